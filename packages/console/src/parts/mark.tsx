/** The mark of the project: one hub, four directions. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <circle cx="16" cy="16" r="4.2" />
      <path d="M16 4.5v7.3M16 20.2v7.3M4.5 16h7.3M20.2 16h7.3" />
    </svg>
  );
}
