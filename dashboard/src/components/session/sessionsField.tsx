import { useId } from 'react';
import { sessionName, useSessions } from '../../model/sessions.ts';
import { CheckField, FieldError } from '../form/field.tsx';

interface SessionsFieldStrings {
  readonly sessions: string;
  readonly allSessions: string;
  readonly allSessionsHint: string;
}

/** Selects some sessions. Null stands for all. */
export function SessionsField({
  strings,
  value,
  onChange,
  error,
}: {
  readonly strings: SessionsFieldStrings;
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
      <legend className="mb-2 text-sm font-medium">{strings.sessions}</legend>
      <CheckField
        label={strings.allSessions}
        hint={strings.allSessionsHint}
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
