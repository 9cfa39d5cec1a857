import type { WebhookEndpoint } from '@switchboard/sdk/api';
import { useMutation } from '@tanstack/react-query';
import { api, fieldError } from '../../api.ts';
import { useEdits } from '../../components/form/edits.ts';
import { Form } from '../../components/form/form.tsx';
import { Notice } from '../../components/notice.tsx';
import { Card } from '../../components/page/layout.tsx';
import { useToast } from '../../components/toast.tsx';
import { SubscriptionField } from '../../components/webhook/eventTypeField.tsx';
import { useRefresh } from '../../model/actions.ts';
import { useKeyNames } from '../../model/apiKeys.ts';
import { sharedStrings } from '../../strings/shared.ts';
import { destinationFieldNames, enteredCredentials, ReceiverFields } from './destinationFields.tsx';
import { OptionFields } from './optionFields.tsx';
import { enteredOptions, optionFieldNames, readOptions } from './options.ts';
import { changedSettings, enteredSettings, SettingFields, settingFieldNames } from './settingFields.tsx';
import { webhookStrings } from './strings.ts';

/** The URL, event types, sessions and limits of a webhook. */
export function SettingsCard({ webhook }: { readonly webhook: WebhookEndpoint }) {
  const { webhookId } = webhook;
  const { values, edit, changed, saved } = useEdits({
    webhookUrl: webhook.webhookUrl ?? '',
    destination: webhook.destination,
    credentials: {},
    events: webhook.events,
    ...enteredSettings(webhook),
    ...enteredOptions(webhook),
  });
  const { destination, events, sessionIds } = values;
  const refresh = useRefresh();
  const toast = useToast();
  const save = useMutation({
    mutationFn: (sent: typeof changed) => {
      const { webhookUrl, destination: chosen, credentials = {}, events: types } = sent;
      const entered = enteredCredentials(destination.type, credentials);
      return api.webhooks.endpoints.update({
        webhookId,
        ...(webhookUrl !== undefined && { webhookUrl }),
        ...(chosen !== undefined && { destination: chosen }),
        ...(entered && { credentials: entered }),
        ...(types !== undefined && { events: types }),
        ...changedSettings(sent),
        ...readOptions(values, sent),
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
      <Origin webhook={webhook} />
      <Form
        submit={sharedStrings.save}
        error={save.error}
        fields={['webhookUrl', 'events', ...destinationFieldNames, ...settingFieldNames, ...optionFieldNames]}
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
        <SettingFields value={values} onChange={edit} problem={problem} hasSessions={!webhook.isDefault} />
        <OptionFields
          value={values}
          onChange={edit}
          problem={problem}
          headerNames={webhook.headerNames}
          hasFilters={!webhook.isDefault}
          isHttp={destination.type === 'http'}
        />
        {save.data?.warnings.map((warning) => (
          <Notice key={warning} tone="warn">
            {warning}
          </Notice>
        ))}
      </Form>
    </Card>
  );
}

/** The API key that set the webhook, if it was no login. */
function Origin({ webhook: { setByKeyId } }: { readonly webhook: WebhookEndpoint }) {
  const keyName = useKeyNames();
  if (setByKeyId === null) return null;
  return <p className="mb-4 text-sm text-ink-soft">{webhookStrings.setByKey(keyName(setByKeyId))}</p>;
}
