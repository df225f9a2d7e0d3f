"""What every app needs and none owns: errors, ids, paging, protected tables, replies."""
