"""Tables and documents that somebody else wrote: any table as Arrow batches, CSV in all its spellings, JSON."""
