import type { WebhookEndpoint } from '@switchboard/sdk/api';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, errorText } from '../../api.ts';
import { Dialog } from '../../components/dialog/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Notice } from '../../components/notice.tsx';
import { LocalTimeField } from '../../components/text/localTime.tsx';
import { duration } from '../../components/text/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { EventTypeField } from '../../components/webhook/eventTypeField.tsx';
import { deliveryStrings } from '../../strings/deliveries.ts';
import { type EventType, eventTypes } from '../../strings/events.ts';
import type { DeliveryFilters } from './filters.ts';
import { shortUrl } from './webhookNames.ts';

const DAY_MS = 24 * 3_600_000;
/** A pending delivery cannot be replayed. */
const replayable = ['failed', 'expired', 'delivered', 'cancelled'] as const;
type Replayable = (typeof replayable)[number];

interface ReplayProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly webhooks: readonly WebhookEndpoint[];
  /** Receives a filter of the log that shows the replayed deliveries. */
  readonly onReplayed: (filters: DeliveryFilters) => void;
}

/** Replays a time range, after showing how many deliveries that is. */
export function ReplayDialog({ open, onOpenChange, webhooks, onReplayed }: ReplayProps) {
  return (
    <Dialog
      title={deliveryStrings.replayTitle}
      description={deliveryStrings.replayLead}
      open={open}
      onOpenChange={onOpenChange}
      width="wide"
    >
      <ReplayForm
        webhooks={webhooks}
        onCancel={() => onOpenChange(false)}
        onReplayed={(filters) => {
          onOpenChange(false);
          onReplayed(filters);
        }}
      />
    </Dialog>
  );
}

interface ReplayFormProps extends Pick<ReplayProps, 'webhooks' | 'onReplayed'> {
  readonly onCancel: () => void;
}

function ReplayForm({ webhooks, onCancel, onReplayed }: ReplayFormProps) {
  const [from, setFrom] = useState<string | undefined>(() => new Date(Date.now() - DAY_MS).toISOString());
  const [to, setTo] = useState<string | undefined>(() => new Date(Date.now() + 60_000).toISOString());
  const [types, setTypes] = useState<readonly EventType[]>(eventTypes);
  const [states, setStates] = useState<readonly Replayable[]>(['failed', 'expired']);
  const [webhookId, setWebhookId] = useState('');
  const [perSecond, setPerSecond] = useState('100');
  const { count, replay, matched } = useReplay(
    {
      afterTime: from ?? '',
      beforeTime: to ?? '',
      events: [...types],
      states: [...states],
      perSecond: Number(perSecond),
      ...(webhookId !== '' && { webhookId }),
    },
    onReplayed,
  );
  const rangeError = from !== undefined && to !== undefined && from >= to ? deliveryStrings.invalidRange : undefined;
  const error = replay.error ?? count.error;

  return (
    <Form
      submit={matched === undefined ? deliveryStrings.count : deliveryStrings.replayNow(matched)}
      submitLook={matched === undefined ? 'secondary' : 'primary'}
      busy={count.isPending || replay.isPending}
      disabled={states.length === 0 || types.length === 0 || rangeError !== undefined || matched === 0}
      onCancel={onCancel}
      onSubmit={() => (matched === undefined ? count.mutate() : replay.mutate())}
    >
      <div className="grid items-start gap-4 wide:grid-cols-2">
        <LocalTimeField label={deliveryStrings.after} required value={from} onChange={setFrom} />
        <LocalTimeField label={deliveryStrings.before} required value={to} onChange={setTo} error={rangeError} />
        <SelectField
          label={deliveryStrings.webhook}
          options={[
            ['', deliveryStrings.any],
            ...webhooks.map((webhook) => [webhook.webhookId, shortUrl(webhook.webhookUrl)] as const),
          ]}
          value={webhookId}
          onChange={(event) => setWebhookId(event.currentTarget.value)}
        />
        <TextField
          label={deliveryStrings.perSecond}
          hint={deliveryStrings.perSecondHint}
          type="number"
          min={1}
          max={10_000}
          required
          value={perSecond}
          onChange={(event) => setPerSecond(event.currentTarget.value)}
        />
      </div>
      <StateChoice value={states} onChange={setStates} />
      <EventTypeField label={deliveryStrings.replayTypes} value={types} onChange={setTypes} />
      <div aria-live="polite" className="empty:hidden">
        {error !== null && <Notice tone="bad">{errorText(error)}</Notice>}
        {error === null && matched !== undefined && (
          <Notice tone={matched === 0 ? 'info' : 'warn'}>
            {deliveryStrings.matched(matched)}{' '}
            {matched > 0 && deliveryStrings.takes(duration((matched / Number(perSecond)) * 1000))}
          </Notice>
        )}
      </div>
    </Form>
  );
}

type ReplayInput = Parameters<typeof api.webhooks.replay>[0] & {
  afterTime: string;
  beforeTime: string;
  events: EventType[];
};

/** Counts the deliveries of a replay, then replays them. `matched` is undefined until this input has been counted. */
function useReplay(input: ReplayInput, onReplayed: ReplayProps['onReplayed']) {
  const toast = useToast();
  const key = JSON.stringify(input);
  const count = useMutation({
    mutationFn: async () => ({ key, ...(await api.webhooks.replay({ ...input, dryRun: true })) }),
  });
  const replay = useMutation({
    mutationFn: () => api.webhooks.replay(input),
    onSuccess: ({ replayed }) => {
      toast(deliveryStrings.replayed(replayed));
      const { afterTime: after, beforeTime: before, webhookId, events } = input;
      onReplayed({ after, before, webhookId, ...(events.length === 1 && { event: events[0] }) });
    },
  });
  return { count, replay, matched: count.data?.key === key ? count.data.matched : undefined };
}

interface StateChoiceProps {
  readonly value: readonly Replayable[];
  readonly onChange: (states: readonly Replayable[]) => void;
}

function StateChoice({ value, onChange }: StateChoiceProps) {
  return (
    <fieldset>
      <legend className="mb-2 text-sm font-medium">{deliveryStrings.replayStates}</legend>
      <div className="flex flex-wrap gap-x-6 gap-y-2">
        {replayable.map((state) => (
          <CheckField
            key={state}
            label={deliveryStrings.states[state]}
            checked={value.includes(state)}
            onChange={({ currentTarget: { checked } }) =>
              onChange(replayable.filter((one) => (one === state ? checked : value.includes(one))))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}
