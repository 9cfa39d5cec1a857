import { useId } from 'react';
import { CheckField, FieldError } from '../../components/field.tsx';
import { sessionName, useSessions } from '../../model/sessions.ts';
import { webhookStrings } from '../../strings/webhooks.ts';

/** Selects the sessions whose events a webhook receives. Null stands for all. */
export function SessionsField({
  value,
  onChange,
  error,
}: {
  readonly value: readonly string[] | null;
  readonly onChange: (sessionIds: string[] | null) => void;
  readonly error: string | undefined;
}) {
  const id = useId();
  const sessions = useSessions().data ?? [];
  const names = new Map(sessions.map((session) => [session.sessionId, sessionName(session)]));
  // A deleted session stays listed until it is deselected.
  const offered = [...new Set([...names.keys(), ...(value ?? [])])];
  const toggle = (sessionId: string, isOn: boolean) =>
    onChange(offered.filter((one) => (one === sessionId ? isOn : value?.includes(one))));
  return (
    <fieldset aria-describedby={error === undefined ? undefined : id} className="grid gap-2">
      <legend className="mb-2 text-sm font-medium">{webhookStrings.sessions}</legend>
      <CheckField
        label={webhookStrings.allSessions}
        hint={webhookStrings.allSessionsHint}
        checked={value === null}
        onChange={(event) => onChange(event.currentTarget.checked ? null : [])}
      />
      {value !== null && (
        <div className="grid max-h-60 gap-2 overflow-y-auto pl-6">
          {offered.map((sessionId) => (
            <CheckField
              key={sessionId}
              label={names.get(sessionId) ?? sessionId}
              checked={value.includes(sessionId)}
              onChange={(event) => toggle(sessionId, event.currentTarget.checked)}
            />
          ))}
        </div>
      )}
      {error !== undefined && <FieldError id={id}>{error}</FieldError>}
    </fieldset>
  );
}
