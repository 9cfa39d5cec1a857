import type { WebhookEndpoint } from '@switchboard/sdk/api';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, errorText, fieldError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Actions } from '../../components/dialog.tsx';
import { useEdits } from '../../components/edits.ts';
import { EventTypeField } from '../../components/eventTypeField.tsx';
import { CheckField, TextField } from '../../components/field.tsx';
import { Card } from '../../components/layout.tsx';
import { Notice } from '../../components/notice.tsx';
import { useToast } from '../../components/toast.tsx';
import { words } from '../../strings/shared.ts';
import { webhookWords } from '../../strings/webhooks.ts';

/** Where a webhook points, what it is told, and how fast. */
export function SettingsCard({ webhook }: { readonly webhook: WebhookEndpoint }) {
  const { webhookId } = webhook;
  const { values, edit, changed, saved } = useEdits({
    webhookUrl: webhook.webhookUrl ?? '',
    events: webhook.events,
    enabled: webhook.enabled,
    maxInFlight: String(webhook.maxInFlight),
  });
  const { webhookUrl, events, enabled, maxInFlight } = values;
  const queries = useQueryClient();
  const toast = useToast();
  const save = useMutation({
    mutationFn: ({ maxInFlight: most, ...more }: typeof changed) =>
      api.webhooks.endpoints.update({ webhookId, ...more, ...(most !== undefined && { maxInFlight: Number(most) }) }),
    onSuccess: async (_, sent) => {
      toast(words.saved);
      await queries.invalidateQueries({ queryKey: ['webhooks'] });
      saved(sent);
    },
  });
  const problem = (field: string) => fieldError(save.error, field);

  return (
    <Card title={webhookWords.settings}>
      <form
        className="grid gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(changed);
        }}
      >
        {save.error !== null && <Notice tone="bad">{errorText(save.error)}</Notice>}
        <TextField
          label={webhookWords.url}
          hint={webhookWords.newUrlHint}
          error={problem('webhookUrl')}
          type="url"
          required
          value={webhookUrl}
          onChange={(event) => edit({ webhookUrl: event.currentTarget.value })}
        />
        <EventTypeField
          label={webhookWords.kinds}
          value={events}
          onChange={(kinds) => edit({ events: [...kinds] })}
          error={events.length === 0 ? webhookWords.noKinds : problem('events')}
        />
        <TextField
          label={webhookWords.maxInFlight}
          hint={webhookWords.maxInFlightHint}
          error={problem('maxInFlight')}
          type="number"
          min={1}
          max={256}
          required
          className="max-w-32"
          value={maxInFlight}
          onChange={(event) => edit({ maxInFlight: event.currentTarget.value })}
        />
        <CheckField
          label={webhookWords.enabled}
          hint={webhookWords.enabledHint}
          checked={enabled}
          onChange={(event) => edit({ enabled: event.currentTarget.checked })}
        />
        <Actions>
          <Button type="submit" look="primary" busy={save.isPending} disabled={events.length === 0}>
            {words.save}
          </Button>
        </Actions>
      </form>
    </Card>
  );
}
