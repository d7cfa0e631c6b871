//! The examples of the five designs, on the embedded engine.

use monotable_service::test_examples;

use crate::support::{DESIGNS, assert_sound, design, fresh, seeded};

#[tokio::test]
async fn all_examples_of_all_designs_hold() {
    for name in DESIGNS {
        let outcomes = test_examples(&design(name), || fresh(name)).await;
        assert!(!outcomes.is_empty());
        let failed = outcomes.iter().filter(|outcome| outcome.problem.is_some()).collect::<Vec<_>>();
        assert!(failed.is_empty(), "{name}: {failed:#?}");
    }
}

#[tokio::test]
async fn seed_data_is_sound_and_sown_once() {
    for name in DESIGNS {
        let service = seeded(name).await;
        assert_sound(&service).await;
        let again = service.seed().await.unwrap();
        assert_eq!(again.created, 0, "{name}");
        assert_sound(&service).await;
    }
}

#[tokio::test]
async fn made_up_data_is_sound() {
    for name in DESIGNS {
        let service = fresh(name).await.unwrap();
        let mut calls = 0;
        let made = service.seed_scaled(10, &mut |_, _| calls += 1).await.unwrap();
        assert!(made.created > 20, "{name}: {made:?}");
        assert!(calls > 0);
        assert_sound(&service).await;
    }
}
