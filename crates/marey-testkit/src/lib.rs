//! Traces drawn as text and synthetic programs with known truth, for tests of marey.
