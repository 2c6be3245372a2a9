/** The nodes whose work others may claim. */
export const GONE = "SELECT id FROM nodes WHERE state IN ('left', 'dead')";
