/** The nodes whose work others may claim. */
export const GONE_NODES = "SELECT id FROM nodes WHERE state IN ('left', 'dead')";
