import type { WebhookEndpoint } from '@switchboard/sdk/api';
import { CheckField, TextField } from '../../components/form/field.tsx';
import { SessionsField } from '../../components/session/sessionsField.tsx';
import { webhookStrings } from './strings.ts';

/** The settings of any webhook, as they are entered. */
export interface Settings extends Pick<WebhookEndpoint, 'sessionIds' | 'enabled' | 'paused' | 'ordering'> {
  readonly description: string;
  readonly maxInFlight: string;
}

export const newSettings: Settings = {
  sessionIds: null,
  description: '',
  enabled: true,
  paused: false,
  ordering: 'best_effort',
  maxInFlight: '8',
};

export const settingFieldNames = Object.keys(newSettings);

export function enteredSettings(webhook: WebhookEndpoint): Settings {
  const { sessionIds, enabled, paused, ordering, description, maxInFlight } = webhook;
  return { sessionIds, enabled, paused, ordering, description: description ?? '', maxInFlight: String(maxInFlight) };
}

/** Returns the part of a request for changed settings. */
export function changedSettings(changed: Partial<Settings>) {
  const { sessionIds, enabled, paused, ordering, description, maxInFlight } = changed;
  return {
    ...(sessionIds !== undefined && { sessionIds }),
    ...(enabled !== undefined && { enabled }),
    ...(paused !== undefined && { paused }),
    ...(ordering !== undefined && { ordering }),
    ...(description !== undefined && { description: description.trim() || null }),
    ...(maxInFlight !== undefined && { maxInFlight: Number(maxInFlight) }),
  };
}

/** Selects sessions, describes the webhook, and sets its concurrency, state and order. */
export function SettingFields({
  value: { sessionIds, description, maxInFlight, enabled, paused, ordering },
  onChange,
  problem,
  hasSessions,
}: {
  readonly value: Settings;
  readonly onChange: (change: Partial<Settings>) => void;
  readonly problem: (field: string) => string | undefined;
  /** The default webhook receives the events of all sessions. */
  readonly hasSessions: boolean;
}) {
  return (
    <>
      {hasSessions && (
        <SessionsField
          strings={webhookStrings}
          value={sessionIds}
          onChange={(chosen) => onChange({ sessionIds: chosen })}
          error={sessionIds?.length === 0 ? webhookStrings.noSessions : problem('sessionIds')}
        />
      )}
      <TextField
        label={webhookStrings.description}
        hint={webhookStrings.descriptionHint}
        error={problem('description')}
        maxLength={500}
        value={description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
      />
      <TextField
        label={webhookStrings.maxInFlight}
        hint={webhookStrings.maxInFlightHint}
        error={problem('maxInFlight')}
        type="number"
        min={1}
        max={256}
        required
        className="max-w-32"
        value={maxInFlight}
        onChange={(event) => onChange({ maxInFlight: event.currentTarget.value })}
      />
      <CheckField
        label={webhookStrings.enabled}
        hint={webhookStrings.enabledHint}
        error={problem('enabled')}
        checked={enabled}
        onChange={(event) => onChange({ enabled: event.currentTarget.checked })}
      />
      <CheckField
        label={webhookStrings.paused}
        hint={webhookStrings.pausedHint}
        error={problem('paused')}
        checked={paused}
        onChange={(event) => onChange({ paused: event.currentTarget.checked })}
      />
      <CheckField
        label={webhookStrings.strict}
        hint={webhookStrings.strictHint}
        error={problem('ordering')}
        checked={ordering === 'strict'}
        onChange={(event) => onChange({ ordering: event.currentTarget.checked ? 'strict' : 'best_effort' })}
      />
    </>
  );
}
