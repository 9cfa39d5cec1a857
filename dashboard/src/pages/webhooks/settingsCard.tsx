import type { WebhookEndpoint } from '@switchboard/sdk/api';
import { useMutation } from '@tanstack/react-query';
import { api, fieldError } from '../../api.ts';
import { useEdits } from '../../components/edits.ts';
import { SubscriptionField } from '../../components/eventTypeField.tsx';
import { CheckField, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Card } from '../../components/layout.tsx';
import { Notice } from '../../components/notice.tsx';
import { SessionsField } from '../../components/sessionsField.tsx';
import { useToast } from '../../components/toast.tsx';
import { useRefresh } from '../../model/actions.ts';
import { sharedStrings } from '../../strings/shared.ts';
import { webhookStrings } from '../../strings/webhooks.ts';
import { destinationFieldNames, enteredCredentials, ReceiverFields } from './destinationFields.tsx';

/** The URL, event types, sessions and limits of a webhook. */
export function SettingsCard({ webhook }: { readonly webhook: WebhookEndpoint }) {
  const { webhookId } = webhook;
  const { values, edit, changed, saved } = useEdits({
    webhookUrl: webhook.webhookUrl ?? '',
    destination: webhook.destination,
    credentials: {},
    events: webhook.events,
    sessionIds: webhook.sessionIds,
    description: webhook.description ?? '',
    enabled: webhook.enabled,
    paused: webhook.paused,
    ordering: webhook.ordering,
    maxInFlight: String(webhook.maxInFlight),
  });
  const { destination, events, sessionIds, description, maxInFlight } = values;
  const refresh = useRefresh();
  const toast = useToast();
  const save = useMutation({
    mutationFn: ({ maxInFlight: most, description: note, credentials = {}, ...more }: typeof changed) => {
      const entered = enteredCredentials(destination.type, credentials);
      return api.webhooks.endpoints.update({
        webhookId,
        ...more,
        ...(entered && { credentials: entered }),
        ...(note !== undefined && { description: note.trim() || null }),
        ...(most !== undefined && { maxInFlight: Number(most) }),
      });
    },
    onSuccess: async ({ cancelled }, sent) => {
      toast(cancelled > 0 ? webhookStrings.savedAndCancelled(cancelled) : sharedStrings.saved);
      await refresh('webhooks');
      saved(sent);
    },
  });
  const problem = (field: string) => fieldError(save.error, field);

  return (
    <Card title={webhookStrings.settings}>
      <Form
        submit={sharedStrings.save}
        error={save.error}
        fields={['webhookUrl', 'events', 'sessionIds', 'description', 'maxInFlight', ...destinationFieldNames]}
        busy={save.isPending}
        disabled={events.length === 0 || sessionIds?.length === 0}
        onSubmit={() => save.mutate(changed)}
      >
        <ReceiverFields
          value={values}
          onChange={edit}
          problem={problem}
          known={webhook.credentialNames}
          urlHint={webhookStrings.newUrlHint}
          isHttpOnly={webhook.isDefault}
        />
        <SubscriptionField
          label={webhookStrings.types}
          value={events}
          onChange={(types) => edit({ events: [...types] })}
          error={events.length === 0 ? webhookStrings.noTypes : problem('events')}
        />
        {!webhook.isDefault && (
          <SessionsField
            strings={webhookStrings}
            value={sessionIds}
            onChange={(chosen) => edit({ sessionIds: chosen })}
            error={sessionIds?.length === 0 ? webhookStrings.noSessions : problem('sessionIds')}
          />
        )}
        <TextField
          label={webhookStrings.description}
          hint={webhookStrings.descriptionHint}
          error={problem('description')}
          maxLength={500}
          value={description}
          onChange={(event) => edit({ description: event.currentTarget.value })}
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
          onChange={(event) => edit({ maxInFlight: event.currentTarget.value })}
        />
        <StateFields value={values} onChange={edit} />
        {save.data?.warnings.map((warning) => (
          <Notice key={warning} tone="warn">
            {warning}
          </Notice>
        ))}
      </Form>
    </Card>
  );
}

type State = Pick<WebhookEndpoint, 'enabled' | 'paused' | 'ordering'>;

/** Whether events are queued, whether they are sent, and in which order. */
function StateFields({
  value: { enabled, paused, ordering },
  onChange,
}: {
  readonly value: State;
  readonly onChange: (change: Partial<State>) => void;
}) {
  return (
    <>
      <CheckField
        label={webhookStrings.enabled}
        hint={webhookStrings.enabledHint}
        checked={enabled}
        onChange={(event) => onChange({ enabled: event.currentTarget.checked })}
      />
      <CheckField
        label={webhookStrings.paused}
        hint={webhookStrings.pausedHint}
        checked={paused}
        onChange={(event) => onChange({ paused: event.currentTarget.checked })}
      />
      <CheckField
        label={webhookStrings.strict}
        hint={webhookStrings.strictHint}
        checked={ordering === 'strict'}
        onChange={(event) => onChange({ ordering: event.currentTarget.checked ? 'strict' : 'best_effort' })}
      />
    </>
  );
}
