import { useEffect, useState } from 'react';
import { buttonClass } from '../../components/button.tsx';
import { Lamp, type LampTone } from '../../components/lamp.tsx';
import { Facts } from '../../components/page/layout.tsx';
import { CodeSnippet } from '../../components/schema/codeSnippet.tsx';
import { JsonInspector } from '../../components/schema/jsonInspector.tsx';
import { formatFileSize } from '../../model/fileSize.ts';
import { referenceStrings } from './strings.ts';
import type { Answer, AnswerContent } from './tryRequest.ts';

/** A response: its status, its headers and its body. */
export function AnswerView({ answer: { status, statusText, ms, headers, content } }: { readonly answer: Answer }) {
  return (
    <section aria-label={referenceStrings.answer} className="grid grid-cols-1 gap-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <Lamp tone={toneOf(status)}>{`${status} ${statusText}`.trim()}</Lamp>
        <span className="text-xs text-ink-faint">{referenceStrings.milliseconds(ms)}</span>
      </div>
      <Content content={content} />
      <details>
        <summary className="text-sm text-ink-soft marker:text-ink-faint">
          {referenceStrings.headers(headers.length)}
        </summary>
        <div className="mt-2 font-mono text-xs">
          <Facts facts={headers} />
        </div>
      </details>
    </section>
  );
}

function Content({ content }: { readonly content: AnswerContent }) {
  if (content.kind === 'file') return <FileContent blob={content.blob} />;
  const label = referenceStrings.answerBody;
  if (content.kind === 'json') {
    const { value } = content;
    if (typeof value === 'object' && value !== null) return <JsonInspector label={label} value={value} />;
    return <CodeSnippet label={label} code={JSON.stringify(value)} />;
  }
  if (content.text === '') return <p className="text-sm text-ink-faint">{referenceStrings.emptyBody}</p>;
  return (
    <>
      <CodeSnippet label={label} code={content.text} />
      {content.isCut && <p className="text-sm text-ink-faint">{referenceStrings.cut}</p>}
    </>
  );
}

/** A picture is shown, any other file can be saved. */
function FileContent({ blob }: { readonly blob: Blob }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const created = URL.createObjectURL(blob);
    setUrl(created);
    return () => URL.revokeObjectURL(created);
  }, [blob]);
  if (url === undefined) return null;
  return (
    <div className="grid grid-cols-1 justify-items-start gap-3">
      {blob.type.startsWith('image/') && (
        <img
          src={url}
          alt={referenceStrings.answerBody}
          className="max-h-80 max-w-full rounded-lg border border-line"
        />
      )}
      <a href={url} download="response" className={buttonClass()}>
        {referenceStrings.save(`${blob.type}, ${formatFileSize(blob.size)}`)}
      </a>
    </div>
  );
}

function toneOf(status: number): LampTone {
  if (status < 300) return 'good';
  return status < 400 ? 'warn' : 'bad';
}
