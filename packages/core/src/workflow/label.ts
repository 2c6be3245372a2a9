/** The label of data fetched with a credential: the host that answered, and the hosts of the credential. */
export interface Label {
  readonly from: string;
  /** The hosts that may receive the data without a rule of the operator, including `from`. */
  readonly to: readonly string[];
}

/** The labels of a value that is derived from values with these labels. */
export function unionOfLabels(lists: readonly (readonly Label[])[]): readonly Label[] {
  const labelled = lists.filter((labels) => labels.length > 0);
  const [only = UNLABELLED] = labelled;
  if (labelled.length < 2 || labelled.every((labels) => labels === only)) return only;
  return [...new Map(labelled.flat().map((label) => [`${label.from} ${label.to.join(' ')}`, label])).values()];
}

export const UNLABELLED: readonly Label[] = [];
