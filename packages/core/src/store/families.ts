/** What administration keeps, and every process has a copy of in memory. */
export type FamilyName =
  | 'keys'
  | 'agents'
  | 'apis'
  | 'workflows'
  | 'knowledge'
  | 'credentials'
  | 'registrations'
  | 'pins';

/** Tells when another process has changed what this one has a copy of. A store that one process owns has none. */
export interface FamilyStore {
  /** A number for each family, which is another one after another process changed it. Own changes do not count. */
  versions(): Promise<ReadonlyMap<FamilyName, number>>;
}
