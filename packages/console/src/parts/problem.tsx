import { DragomanError } from '@dragoman/client';
import { Text } from './text.tsx';

/** An error with its cause and its fix. */
export function Problem({ error, retry }: { readonly error: unknown; readonly retry?: (() => void) | undefined }) {
  if (error === undefined) return null;
  const { code, message, issues, suggestions, retryAfter } = partsOf(error);
  return (
    <div class="problem" role="alert">
      <strong>{TITLES[code] ?? 'The request failed'}</strong>
      <p>
        <Text value={message} />
      </p>
      {issues.length > 0 && (
        <ul>
          {issues.map(({ pointer, message: issue }) => (
            <li key={`${pointer} ${issue}`}>
              <code>
                <Text value={pointer || '/'} />
              </code>{' '}
              <Text value={issue} />
            </li>
          ))}
        </ul>
      )}
      {suggestions.length > 0 && (
        <ul class="suggestions">
          {suggestions.map((one) => (
            <li key={one}>
              <Text value={one} />
            </li>
          ))}
        </ul>
      )}
      {retryAfter !== undefined && <p>Try again in {retryAfter} s.</p>}
      <p class="dim">
        <code>
          <Text value={code} />
        </code>
        {retry !== undefined && (
          <>
            {' '}
            <button type="button" onClick={retry}>
              Try again
            </button>
          </>
        )}
      </p>
    </div>
  );
}

function partsOf(error: unknown): Pick<DragomanError, 'code' | 'message' | 'issues' | 'suggestions' | 'retryAfter'> {
  if (error instanceof DragomanError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'internal', message, issues: [], suggestions: [], retryAfter: undefined };
}

const TITLES: Readonly<Record<string, string>> = {
  unauthenticated: 'Not signed in',
  forbidden: 'Not allowed',
  not_found: 'Not found',
  conflict: 'Conflict',
  rate_limited: 'Too many requests',
  unreachable: 'The server cannot be reached',
  invalid_message: 'Invalid request',
  invalid_argument: 'Invalid input',
  internal: 'Something went wrong in the console',
};
