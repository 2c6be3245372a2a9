import { useAction } from '../action.ts';
import { useLive } from '../live.ts';
import { asAdmin } from '../session.ts';
import { JsonDiff } from './diff.tsx';
import { Json } from './json.tsx';
import { Problem } from './problem.tsx';
import { When } from './when.tsx';

/** A tool that has changed since it was accepted: the change, and buttons to accept or refuse it. */
export function HeldTool({ name, changed }: { readonly name: string; readonly changed: () => void }) {
  const tools = asAdmin.value?.admin.tools;
  const { data, error, reload } = useLive(async () => tools?.change(name), [tools, name]);
  const { act, trouble, isBusy } = useAction();
  const decide = (decision: 'accept' | 'refuse') =>
    act(async () => {
      await tools?.[decision](name);
      if (decision === 'refuse') reload();
      changed();
    });
  return (
    <div class="notice">
      <strong>The definition has changed since it was accepted.</strong>
      <p>
        No one can call it until you accept its current version. Read its description and its arguments first: a model
        reads them, too.
        {data?.refused === true && ' This change was refused; it stays blocked.'}
      </p>
      {data !== undefined && (
        <>
          {data.pinned_at !== null && (
            <p class="dim">
              Accepted <When at={data.pinned_at} />.
            </p>
          )}
          {data.before === null ? (
            <>
              <p class="dim">What it was before is not recorded. It is now:</p>
              <Json value={data.now} label={`${name} now`} />
            </>
          ) : (
            <JsonDiff before={data.before} now={data.now} label={`Changes of ${name}`} />
          )}
        </>
      )}
      <div class="bar">
        <button
          type="button"
          class="primary"
          disabled={isBusy || data === undefined}
          onClick={() => void decide('accept')}
        >
          Accept the change
        </button>
        <button
          type="button"
          disabled={isBusy || data === undefined || data.refused}
          onClick={() => void decide('refuse')}
        >
          Refuse it
        </button>
      </div>
      <Problem error={error ?? trouble} />
    </div>
  );
}
