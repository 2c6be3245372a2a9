/** What data carries that a credential fetched: the host that answered, and the hosts the credential is bound to. */
export interface Label {
  readonly from: string;
  /** Where the data may go without a rule of the operator's; `from` is one of them. */
  readonly to: readonly string[];
}

/** The labels of something made from all of these. */
export function unionOfLabels(lists: readonly (readonly Label[])[]): readonly Label[] {
  const labelled = lists.filter((labels) => labels.length > 0);
  const [only = UNLABELLED] = labelled;
  if (labelled.length < 2 || labelled.every((labels) => labels === only)) return only;
  return [...new Map(labelled.flat().map((label) => [`${label.from} ${label.to.join(' ')}`, label])).values()];
}

export const UNLABELLED: readonly Label[] = [];
