/** The administrative data that every process has a copy of in memory. */
export type FamilyName =
  | 'keys'
  | 'agents'
  | 'apis'
  | 'workflows'
  | 'knowledge'
  | 'credentials'
  | 'registrations'
  | 'pins';

/** Shows when another process has changed a family. Absent from a store that one process owns. */
export interface FamilyStore {
  /** A number for each family, which differs after another process has changed the family. Own changes do not count. */
  versions(): Promise<ReadonlyMap<FamilyName, number>>;
}
