export function threeSteps(origin: string): () => string;
export function smallSteps(operations: number): () => string;
