import type { WebhookEndpoint } from '@switchboard/sdk/api';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Button } from '../../components/button.tsx';
import { useCommittedInput } from '../../components/form/committedInput.ts';
import { SelectField, TextField } from '../../components/form/field.tsx';
import { useIsWide } from '../../components/page/isWide.ts';
import { LocalTimeField } from '../../components/text/localTime.tsx';
import { deliveryStrings } from '../../strings/deliveries.ts';
import { eventTypes } from '../../strings/events.ts';
import { type DeliveryFilters, deliveryStates } from './filters.ts';
import { shortUrl } from './webhookNames.ts';

const route = getRouteApi('/shell/deliveries');
const any = ['', deliveryStrings.any] as const;

/** The filters of the log. They are in the address, so that it can be shared. */
export function FilterBar({ webhooks }: { readonly webhooks: readonly WebhookEndpoint[] }) {
  const filters = route.useSearch();
  const navigate = useNavigate();
  const isWide = useIsWide();
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  const change = (more: DeliveryFilters) =>
    navigate({ to: '/deliveries', search: { ...filters, ...more }, replace: true });
  const orNone = (value: string) => (value === '' ? undefined : value);
  const chat = useCommittedInput(filters.chatId ?? '', (text) => change({ chatId: orNone(text.trim()) }));

  return (
    <details open={isWide || isFiltered} className="border-b border-line px-5 py-3">
      <summary className="text-sm text-ink-soft">{deliveryStrings.filters}</summary>
      <div className="mt-3 grid grid-cols-1 gap-3 wide:grid-cols-3">
        <SelectField
          label={deliveryStrings.state}
          options={[any, ...deliveryStates.map((state) => [state, deliveryStrings.states[state]] as const)]}
          value={filters.state ?? ''}
          onChange={({ currentTarget: { value } }) => change({ state: deliveryStates.find((one) => one === value) })}
        />
        <SelectField
          label={deliveryStrings.event}
          options={[any, ...eventTypes.map((kind) => [kind, kind] as const)]}
          value={filters.event ?? ''}
          onChange={({ currentTarget }) => change({ event: orNone(currentTarget.value) })}
        />
        <SelectField
          label={deliveryStrings.webhook}
          options={[any, ...webhooks.map(({ webhookId, webhookUrl }) => [webhookId, shortUrl(webhookUrl)] as const)]}
          value={filters.webhookId ?? ''}
          onChange={({ currentTarget }) => change({ webhookId: orNone(currentTarget.value) })}
        />
        <TextField label={deliveryStrings.chat} placeholder={deliveryStrings.chatHint} {...chat} />
        <LocalTimeField label={deliveryStrings.after} value={filters.after} onChange={(after) => change({ after })} />
        <LocalTimeField
          label={deliveryStrings.before}
          value={filters.before}
          onChange={(before) => change({ before })}
        />
      </div>
      {isFiltered && (
        <Button
          look="quiet"
          size="small"
          className="mt-3 -ml-2"
          onClick={() => navigate({ to: '/deliveries', search: {}, replace: true })}
        >
          {deliveryStrings.clearFilters}
        </Button>
      )}
    </details>
  );
}
