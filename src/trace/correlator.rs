//! Pairing of requests with responses.
