import type { HeldCards as Held } from '@dragoman/client';
import { useAction } from '../action.ts';
import { asAdmin } from '../session.ts';
import { JsonDiff } from './diff.tsx';
import { Problem } from './problem.tsx';
import { Text } from './text.tsx';

/** Foreign agents whose cards have changed. They get no requests until an administrator accepts their cards. */
export function HeldCards({ changes, changed }: { readonly changes: Held['changes']; readonly changed: () => void }) {
  const { act, trouble } = useAction();
  const accept = (id: string) =>
    act(async () => {
      await asAdmin.value?.admin.agents.acceptCard(id);
      changed();
    });
  return (
    <>
      {changes.map(({ agent_id: id, before, now }) => (
        <div class="notice" key={id}>
          The card of <Text value={id} /> has changed. The agent gets no requests until you accept the card.
          <JsonDiff before={before ?? {}} now={now} label={`Changes of the card of ${id}`} />
          <button type="button" onClick={() => void accept(id)}>
            Accept
          </button>
        </div>
      ))}
      <Problem error={trouble} />
    </>
  );
}
