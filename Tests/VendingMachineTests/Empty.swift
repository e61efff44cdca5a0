// Placeholder that the next step replaces.
// It holds nothing.
