import { type ReactNode, useEffect, useRef } from 'react';
import { errorText, formError } from '../../api.ts';
import { sharedStrings } from '../../strings/shared.ts';
import { Button } from '../button.tsx';
import { FormActions } from '../dialog/dialog.tsx';
import { Notice } from '../notice.tsx';

interface FormProps {
  /** Receives the form element; forms without state of their own read it with `FormData`. */
  readonly onSubmit: (form: HTMLFormElement) => void;
  /** Shown above the fields, unless `fields` show all of it. */
  readonly error?: unknown;
  /** The fields that show their own part of `error`, named as in the request. */
  readonly fields?: readonly string[];
  readonly busy?: boolean;
  readonly disabled?: boolean;
  /** Label of the submit button. A form without one has no buttons. */
  readonly submit?: string | false;
  readonly submitLook?: 'primary' | 'secondary';
  readonly onCancel?: () => void;
  readonly children: ReactNode;
}

/** Fields with an error above them and the buttons below. */
export function Form({
  onSubmit,
  error = null,
  fields = [],
  busy,
  disabled,
  submit = false,
  submitLook = 'primary',
  onCancel,
  children,
}: FormProps) {
  const shown = formError(error, fields);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error !== null) showFirstError(form.current);
  }, [error]);
  return (
    <form
      ref={form}
      className="grid grid-cols-1 gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(event.currentTarget);
      }}
    >
      {shown !== null && <Notice tone="bad">{errorText(shown)}</Notice>}
      {children}
      {submit !== false && (
        <FormActions>
          {onCancel && <Button onClick={onCancel}>{sharedStrings.cancel}</Button>}
          <Button type="submit" look={submitLook} busy={busy} disabled={disabled}>
            {submit}
          </Button>
        </FormActions>
      )}
    </form>
  );
}

/** Scrolls to the first error of a form, which may be out of view, and focuses its field. */
function showFirstError(form: HTMLFormElement | null): void {
  const first = form?.querySelector<HTMLElement>('[aria-invalid="true"], [role="alert"]');
  first?.focus({ preventScroll: true });
  first?.scrollIntoView({ block: 'center' });
}
