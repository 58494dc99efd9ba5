//! Merge of spools into an archive of Parquet parts, and its reader.
