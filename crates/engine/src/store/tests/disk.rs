//! What only a disk can do: be foreign, be locked, be damaged, be full and fail.
