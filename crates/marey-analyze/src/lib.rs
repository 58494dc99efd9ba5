//! Analysis of marey: pure folds over a trace.
