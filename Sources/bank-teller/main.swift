// A placeholder, replaced by the first real file of this target.
// It does nothing and knows nothing.
print("")
