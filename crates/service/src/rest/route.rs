//! What a path means: which design, and which thing of it.

use design::{Entity, Operation, Pattern};
use http::Method;

use super::problem::ProblemDetails;
use super::{Mounted, Rest, query};
use crate::service::Service;

/// Something that can be asked for.
pub(crate) enum Route<'a> {
    Index,
    Page(&'a Mounted),
    OpenApi(&'a Mounted),
    Pattern(&'a Service, &'a Pattern),
    Operation(&'a Service, &'a Operation),
    Entity(EntityPlace<'a>),
}

/// An entity, or one item of it.
pub(crate) struct EntityPlace<'a> {
    pub(crate) service: &'a Service,
    pub(crate) entity: &'a Entity,
    /// The values of its identity, in order; none for the entity as a whole.
    pub(crate) key: Option<Vec<String>>,
}

impl Route<'_> {
    /// What may be done with it.
    pub(crate) fn methods(&self) -> Vec<Method> {
        match self {
            Route::Index | Route::Page(_) | Route::OpenApi(_) | Route::Pattern(..) => vec![Method::GET],
            Route::Operation(..) => vec![Method::POST],
            Route::Entity(place) => place.methods(),
        }
    }
}

impl EntityPlace<'_> {
    fn methods(&self) -> Vec<Method> {
        let is_single = identity(self.entity).is_empty();
        let written = is_writable(self.entity);
        let mut methods = Vec::new();
        if self.key.is_some() || is_single {
            methods.push(Method::GET);
            if written {
                methods.extend([Method::PATCH, Method::DELETE]);
            }
        }
        if self.key.is_none() && written {
            methods.push(Method::POST);
        }
        methods
    }
}

/// Whether items of an entity are written by themselves. Copies and counts follow from others.
pub(crate) fn is_writable(entity: &Entity) -> bool {
    entity.copy.is_none() && !entity.is_tally_only()
}

/// The attributes that tell the items of an entity apart, in the order of their key.
pub(crate) fn identity(entity: &Entity) -> Vec<&str> {
    entity.identity().into_iter().filter(|name| entity.constant(name).is_none()).collect()
}

/// What a path means.
pub(crate) fn find<'a>(rest: &'a Rest, path: &str) -> Result<Route<'a>, ProblemDetails> {
    let segments = path.trim_matches('/').split('/').map(query::decode).collect::<Option<Vec<_>>>();
    let Some(segments) = segments else {
        return Err(ProblemDetails::bad_request("The path is not UTF-8, percent-encoded"));
    };
    let segments = segments.iter().map(|segment| &**segment).collect::<Vec<_>>();
    let (design, rest_of_path) = match segments.as_slice() {
        ["" | "v1"] => return Ok(Route::Index),
        ["v1", design, rest_of_path @ ..] => (*design, rest_of_path),
        _ => return Err(ProblemDetails::no_route("Designs are under /v1")),
    };
    let mounted = rest.mounted.iter().find(|mounted| mounted.service.design().name == design);
    let Some(mounted) = mounted else {
        let known = rest.mounted.iter().map(|mounted| mounted.service.design().name.as_str());
        return Err(unknown("design", design, known));
    };
    of_design(mounted, rest_of_path)
}

/// The kinds of things in a design, as a path names them.
const KINDS: [&str; 4] = ["entities", "patterns", "operations", "openapi.json"];

fn of_design<'a>(mounted: &'a Mounted, path: &[&str]) -> Result<Route<'a>, ProblemDetails> {
    let service = &mounted.service;
    let design = service.design();
    match path {
        [] => Ok(Route::Page(mounted)),
        ["openapi.json"] => Ok(Route::OpenApi(mounted)),
        ["patterns", name] => match design.pattern(name) {
            Some(pattern) => Ok(Route::Pattern(service, pattern)),
            None => Err(unknown(
                "pattern",
                name,
                design.patterns.iter().map(|pattern| pattern.name.value.as_str()),
            )),
        },
        ["operations", name] => match design.operation(name) {
            Some(operation) => Ok(Route::Operation(service, operation)),
            None => {
                let known = design.operations.iter().map(|operation| operation.name.value.as_str());
                Err(unknown("operation", name, known))
            }
        },
        ["entities", name, key @ ..] => match design.entity(name) {
            Some(entity) => of_entity(service, entity, key),
            None => {
                Err(unknown("entity", name, design.entities.iter().map(|entity| entity.name.value.as_str())))
            }
        },
        [kind, ..] => match design::nearest(kind, KINDS) {
            Some(near) => {
                Err(ProblemDetails::no_route(format!("There is no `{kind}`. Did you mean `{near}`?")))
            }
            None => Err(ProblemDetails::no_route(format!("A design has {}", KINDS.join(", ")))),
        },
    }
}

fn of_entity<'a>(
    service: &'a Service,
    entity: &'a Entity,
    key: &[&str],
) -> Result<Route<'a>, ProblemDetails> {
    let identity = identity(entity);
    if key.is_empty() {
        return Ok(Route::Entity(EntityPlace { service, entity, key: None }));
    }
    if key.len() != identity.len() {
        let path = identity.iter().flat_map(|name| ["/{", *name, "}"]).collect::<String>();
        let name = &entity.name.value;
        return Err(ProblemDetails::no_route(format!("Items of {name} are at …/entities/{name}{path}")));
    }
    let key = key.iter().map(|part| (*part).to_owned()).collect();
    Ok(Route::Entity(EntityPlace { service, entity, key: Some(key) }))
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> ProblemDetails {
    let help = match design::nearest(name, known.clone()) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => format!("There are {}", known.collect::<Vec<_>>().join(", ")),
    };
    let shown = name.chars().take(64).collect::<String>();
    ProblemDetails::no_route(format!("There is no {what} `{shown}`. {help}"))
}
