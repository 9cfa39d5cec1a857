import type { WebhookTest } from '@switchboard/sdk/api';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { api, errorText } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { SelectField } from '../../components/form/field.tsx';
import { Lamp, type LampTone } from '../../components/lamp.tsx';
import { Notice } from '../../components/notice.tsx';
import { Card } from '../../components/page/layout.tsx';
import { CodeSnippet } from '../../components/schema/codeSnippet.tsx';
import { formatRequest } from '../../components/schema/formatRequest.ts';
import type { EventType } from '../../strings/events.ts';
import { webhookStrings } from './strings.ts';

/** Sends a sample event now, and shows each stage of the request and the response. */
export function TestCard({ webhookId, types }: { readonly webhookId: string; readonly types: readonly EventType[] }) {
  const [type, setType] = useState<EventType>();
  const sample = type !== undefined && types.includes(type) ? type : (types[0] ?? 'message.incoming');
  const queries = useQueryClient();
  const test = useMutation({
    mutationFn: () => api.webhooks.endpoints.test({ webhookId, event: sample }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['deliveries'] });
      void queries.invalidateQueries({ queryKey: ['webhooks', webhookId] });
    },
  });

  return (
    <Card title={webhookStrings.test} hint={webhookStrings.testHint}>
      <form
        className="flex flex-wrap items-end gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          test.mutate();
        }}
      >
        <SelectField
          label={webhookStrings.sample}
          options={types.map((one) => [one, one] as const)}
          value={sample}
          // one of the options
          onChange={(event) => setType(event.currentTarget.value as EventType)}
        />
        <Button type="submit" look="primary" busy={test.isPending} icon={<Send className="size-4" />}>
          {webhookStrings.send}
        </Button>
      </form>
      <div aria-live="polite" className="mt-5 grid grid-cols-1 gap-4 empty:hidden">
        {test.error !== null && <Notice tone="bad">{errorText(test.error)}</Notice>}
        {test.data !== undefined && <TestResult result={test.data} />}
      </div>
    </Card>
  );
}

const stageTones: Readonly<Record<WebhookTest['stages'][number]['result'], LampTone>> = {
  ok: 'good',
  failed: 'bad',
  skipped: 'off',
};

function TestResult({ result }: { readonly result: WebhookTest }) {
  const { delivered, message, latencyMs, stages, request, response, status, deliveryId } = result;
  return (
    <>
      <Notice tone={delivered ? 'good' : 'bad'}>{delivered ? webhookStrings.arrived(latencyMs) : message}</Notice>
      <ol aria-label={webhookStrings.stages} className="grid gap-2 wide:grid-cols-6">
        {stages.map(({ stage, result: outcome, ms }) => (
          <li key={stage} className="rounded-lg border border-line px-3 py-2">
            <Lamp tone={stageTones[outcome]}>{webhookStrings.stageNames[stage]}</Lamp>
            <p className="text-xs text-ink-faint">
              {webhookStrings.results[outcome]}
              {ms !== null && `, ${webhookStrings.ms(ms)}`}
            </p>
          </li>
        ))}
      </ol>
      <div className="grid grid-cols-1 gap-1.5">
        <h3 className="text-sm font-medium">{webhookStrings.request}</h3>
        <CodeSnippet code={formatRequest(request)} label={webhookStrings.request} />
      </div>
      {status !== null && (
        <div className="grid grid-cols-1 gap-1.5">
          <h3 className="text-sm font-medium">
            {webhookStrings.response}: {status}
          </h3>
          {response === null || response === '' ? (
            <p className="text-sm text-ink-faint">{webhookStrings.emptyResponse}</p>
          ) : (
            <CodeSnippet code={response} label={webhookStrings.response} />
          )}
        </div>
      )}
      <p className="text-sm">
        <Link to="/deliveries/$deliveryId" params={{ deliveryId }} className="text-accent underline">
          {webhookStrings.inLog}
        </Link>
      </p>
    </>
  );
}
