import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Problem } from './problem.tsx';

interface ConfirmParts {
  /** The label of the button that opens the dialog. */
  readonly label: string;
  readonly title: string;
  readonly children: ComponentChildren;
  act(): Promise<unknown>;
}

/** A button for an action that cannot be undone. It asks for confirmation. */
export function Confirm({ label, title, children, act }: ConfirmParts) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="danger small" onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && (
        <Question label={label} title={title} act={act} close={() => setOpen(false)}>
          {children}
        </Question>
      )}
    </>
  );
}

function Question({ label, title, children, act, close }: ConfirmParts & { close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [trouble, setTrouble] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const confirm = async () => {
    setBusy(true);
    try {
      await act();
      close();
    } catch (error) {
      setTrouble(error);
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} onClose={close} aria-label={title}>
      <h2>{title}</h2>
      {children}
      <Problem error={trouble} />
      <div class="bar">
        <button type="button" class="danger" disabled={isBusy} onClick={() => void confirm()}>
          {label}
        </button>
        <button type="button" onClick={close}>
          Keep it
        </button>
      </div>
    </dialog>
  );
}
