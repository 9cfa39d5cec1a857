import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, fieldError } from '../../api.ts';
import { Dialog } from '../../components/dialog/dialog.tsx';
import { OneTimeSecret } from '../../components/dialog/oneTimeSecret.tsx';
import { useEdits } from '../../components/form/edits.ts';
import { Form } from '../../components/form/form.tsx';
import { useToast } from '../../components/toast.tsx';
import { SubscriptionField } from '../../components/webhook/eventTypeField.tsx';
import { useRefresh } from '../../model/actions.ts';
import { usualTypes } from '../../strings/events.ts';
import { destinationFieldNames, enteredCredentials, type Receiver, ReceiverFields } from './destinationFields.tsx';
import { OptionFields } from './optionFields.tsx';
import { noOptions, optionFieldNames, readOptions } from './options.ts';
import { newSecret, SecretField } from './secretField.tsx';
import { changedSettings, newSettings, SettingFields, settingFieldNames } from './settingFields.tsx';
import { webhookStrings } from './strings.ts';

interface AddWebhookProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  /** The first one becomes the default webhook, which calls without an id manage. */
  readonly isFirst: boolean;
}

/** Adds a webhook, shows its secret once, and opens it. */
export function AddWebhook({ open, onOpenChange, isFirst }: AddWebhookProps) {
  const [added, setAdded] = useState<{ webhookId: string; secret: string }>();
  const navigate = useNavigate();
  const openWebhook = (webhookId: string) => navigate({ to: '/webhooks/$webhookId', params: { webhookId } });

  return (
    <>
      <Dialog
        title={isFirst ? webhookStrings.createFirst : webhookStrings.createTitle}
        open={open}
        onOpenChange={onOpenChange}
        width="wide"
      >
        <AddForm
          isFirst={isFirst}
          onCancel={() => onOpenChange(false)}
          onAdded={(webhookId, secret) => {
            onOpenChange(false);
            if (secret === '') void openWebhook(webhookId);
            else setAdded({ webhookId, secret });
          }}
        />
      </Dialog>
      <OneTimeSecret
        strings={webhookStrings}
        secret={added?.secret}
        onDone={() => {
          setAdded(undefined);
          if (added !== undefined) void openWebhook(added.webhookId);
        }}
      />
    </>
  );
}

function AddForm({
  isFirst,
  onCancel,
  onAdded,
}: {
  readonly isFirst: boolean;
  readonly onCancel: () => void;
  readonly onAdded: (webhookId: string, secret: string) => void;
}) {
  const [receiver, setReceiver] = useState<Receiver>({
    webhookUrl: '',
    destination: { type: 'http' },
    credentials: {},
  });
  const [events, setEvents] = useState<readonly string[]>(usualTypes);
  const [secret, setSecret] = useState(newSecret);
  const { values: options, edit: editOptions, changed } = useEdits({ ...newSettings, ...noOptions });
  const refresh = useRefresh();
  const toast = useToast();
  const add = useMutation({
    mutationFn: () => {
      const { webhookUrl, destination, credentials } = receiver;
      const webhook = { webhookUrl, events: [...events], ...(secret !== '' && { secret }) };
      const more = { ...changedSettings(changed), ...readOptions(options, changed) };
      // The default webhook has only the basic options.
      if (destination.type === 'http' && Object.keys(more).length === 0) return addWebhook(webhook, isFirst);
      const entered = enteredCredentials(destination.type, credentials);
      return addEndpoint({ ...webhook, ...more, destination, ...(entered && { credentials: entered }) });
    },
    onSuccess: ({ webhookId, warnings }) => {
      void refresh('webhooks');
      toast(webhookStrings.created);
      // They stay until they are dismissed.
      for (const warning of warnings) toast(warning, 'bad');
      onAdded(webhookId, secret);
    },
  });
  const problem = (field: string) => fieldError(add.error, field);

  return (
    <Form
      submit={webhookStrings.create}
      error={add.error}
      fields={['webhookUrl', 'events', 'secret', ...destinationFieldNames, ...settingFieldNames, ...optionFieldNames]}
      busy={add.isPending}
      disabled={events.length === 0 || options.sessionIds?.length === 0}
      onCancel={onCancel}
      onSubmit={() => add.mutate()}
    >
      <ReceiverFields
        value={receiver}
        onChange={(change) => setReceiver((before) => ({ ...before, ...change }))}
        problem={problem}
        known={[]}
        urlHint={webhookStrings.urlHint}
        autoFocus
      />
      <SubscriptionField label={webhookStrings.types} value={events} onChange={setEvents} error={problem('events')} />
      <SecretField
        label={webhookStrings.secret}
        hint={webhookStrings.secretHint}
        error={problem('secret')}
        isOptional
        value={secret}
        onChange={setSecret}
      />
      <OptionFields
        value={options}
        onChange={editOptions}
        problem={problem}
        headerNames={[]}
        hasFilters
        isHttp={receiver.destination.type === 'http'}
      >
        <SettingFields value={options} onChange={editOptions} problem={problem} hasSessions />
      </OptionFields>
    </Form>
  );
}

type NewWebhook = Parameters<typeof api.webhooks.set>[0];
type NewEndpoint = Parameters<typeof api.webhooks.endpoints.create>[0];

interface Added {
  readonly webhookId: string;
  readonly warnings: readonly string[];
}

function addEndpoint(webhook: NewEndpoint): Promise<Added> {
  return api.webhooks.endpoints.create(webhook);
}

async function addWebhook(webhook: NewWebhook, isFirst: boolean): Promise<Added> {
  // Setting the default webhook would replace one that was set elsewhere meanwhile.
  const isDefaultSet = !isFirst || (await api.webhooks.get()).webhookUrl !== null;
  if (isDefaultSet) return addEndpoint(webhook);
  const { warnings = [] } = await api.webhooks.set(webhook);
  for await (const { webhookId, isDefault } of api.webhooks.endpoints.list.all())
    if (isDefault) return { webhookId, warnings };
  throw new Error('the webhook that was just set is not listed');
}
