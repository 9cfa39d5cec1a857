import { Play, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copyButton.tsx';
import { Card } from '../../components/page/layout.tsx';
import type { Reference } from '../../openapi.ts';
import { sharedStrings } from '../../strings/shared.ts';
import { type Entry, idOf, nameOf } from './entries.ts';
import { MethodTag } from './methodTag.tsx';
import { EventDetails, OperationDetails, SchemaDetails } from './operationDetails.tsx';
import { referenceStrings } from './strings.ts';
import { TryOperation } from './tryOperation.tsx';

/** An operation, an event or a schema. */
export function EntryPage({
  entry,
  components,
}: {
  readonly entry: Entry;
  readonly components: Reference['components'];
}) {
  const name = nameOf(entry);
  const [isTrying, setTrying] = useState(false);
  useEffect(() => {
    document.title = `${name} · ${referenceStrings.title} · ${sharedStrings.product}`;
  }, [name]);
  return (
    <div className="mx-auto grid max-w-[88rem] grid-cols-1 gap-7">
      <header className="flex flex-wrap items-end justify-between gap-x-6 gap-y-4 border-b border-line pb-6">
        <div className="grid min-w-0 grid-cols-1 gap-2.5">
          <h1 className="text-2xl font-semibold wrap-anywhere">{name}</h1>
          <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
            <MethodTag entry={entry} />
            {entry.kind === 'operation' && (
              <>
                <code className="wrap-anywhere text-ink-soft">{entry.operation.path}</code>
                <CopyButton label={referenceStrings.copyLink} text={`${location.origin}/docs#${idOf(entry)}`} />
              </>
            )}
            {entry.kind === 'event' && <span className="text-sm text-ink-soft">{entry.operation.summary}</span>}
          </p>
        </div>
        {isTryable(entry) && (
          <Button
            look={isTrying ? 'secondary' : 'primary'}
            aria-expanded={isTrying}
            icon={isTrying ? <X className="size-4" /> : <Play className="size-4" />}
            onClick={() => setTrying(!isTrying)}
          >
            {isTrying ? referenceStrings.closeTry : referenceStrings.tryIt}
          </Button>
        )}
      </header>
      {isTrying && entry.kind === 'operation' && (
        <Card title={referenceStrings.request}>
          <TryOperation operation={entry.operation} />
        </Card>
      )}
      {entry.kind === 'operation' && <OperationDetails operation={entry.operation} components={components} />}
      {entry.kind === 'event' && <EventDetails operation={entry.operation} components={components} />}
      {entry.kind === 'schema' && <SchemaDetails schema={entry.schema} components={components} />}
    </div>
  );
}

/** A browser cannot send the headers of a WebSocket. */
const isTryable = (entry: Entry) => entry.kind === 'operation' && entry.operation.responses['101'] === undefined;
