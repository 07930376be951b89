//! JSON as spans over the raw bytes: nothing copied, nothing lost.
