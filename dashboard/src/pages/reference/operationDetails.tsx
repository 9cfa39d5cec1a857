import type { ReactNode } from 'react';
import { CodeSnippet, CodeSnippets } from '../../components/codeSnippet.tsx';
import { JsonInspector } from '../../components/jsonInspector.tsx';
import type { Operation, Reference } from '../../openapi.ts';
import { referenceStrings } from '../../strings/reference.ts';
import { exampleCode } from './exampleCode.ts';
import { FieldLine, FieldList } from './fieldList.tsx';
import { Phrase, Prose } from './prose.tsx';
import { nestedSchema } from './schemaText.ts';

interface OperationProps {
  readonly operation: Operation;
  readonly components: Reference['components'];
}

/** The details of an operation: its input, an example, its responses and its errors. */
export function OperationDetails({ operation, components: { schemas } }: OperationProps) {
  const { description, parameters = [], requestBody, responses } = operation;
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  const fields = body && nestedSchema(body, schemas);
  const successes = Object.entries(responses).filter(([status]) => status < '400');
  const failures = Object.entries(responses).filter(([status]) => status >= '400');

  return (
    <div className="grid grid-cols-1 gap-6">
      {description && <Prose text={description} />}
      <DetailSection title={referenceStrings.example}>
        <CodeSnippets label={referenceStrings.examples} snippets={exampleCode(operation, location.origin)} />
      </DetailSection>
      {parameters.length > 0 && (
        <DetailSection title={referenceStrings.parameters}>
          <ul className="grid grid-cols-1 gap-3">
            {parameters.map(({ name, in: place, required, schema, description: meaning }) => (
              <li key={`${place} ${name}`}>
                <FieldLine
                  name={name}
                  schema={schema}
                  description={meaning}
                  notes={[referenceStrings.places[place] ?? place, ...(required ? [referenceStrings.required] : [])]}
                />
              </li>
            ))}
          </ul>
        </DetailSection>
      )}
      {body && (
        <DetailSection title={referenceStrings.body}>
          {fields === undefined ? (
            <Prose text={body.description ?? ''} />
          ) : (
            <FieldList schema={fields} schemas={schemas} />
          )}
        </DetailSection>
      )}
      <DetailSection title={referenceStrings.responses}>
        {successes.map(([status, { description: meaning, content = {} }]) => (
          <div key={status} className="mb-4 grid grid-cols-1 gap-3">
            <p className="text-sm">
              <code className="font-medium text-good">{status}</code> <Phrase text={meaning} />
            </p>
            {Object.entries(content).map(([type, { schema, example }]) => (
              <ResponseBody
                key={type}
                status={`${status}, ${type}`}
                schema={schema && nestedSchema(schema, schemas)}
                schemas={schemas}
                example={example}
              />
            ))}
          </div>
        ))}
      </DetailSection>
      {failures.length > 0 && (
        <DetailSection title={referenceStrings.errorResponses}>
          <ul className="grid grid-cols-1 gap-1.5 text-sm">
            {failures.map(([status, { description: meaning }]) => (
              <li key={status} className="grid grid-cols-[4rem_minmax(0,1fr)]">
                <code className="text-bad">{status}</code>
                <span className="text-ink-soft">
                  <Phrase text={meaning} />
                </span>
              </li>
            ))}
          </ul>
        </DetailSection>
      )}
    </div>
  );
}

/** The details of an event type: its payload and an example. */
export function EventDetails({ operation, components: { schemas } }: OperationProps) {
  const { description, requestBody } = operation;
  const { schema, example } = requestBody?.content['application/json'] ?? {};
  return (
    <div className="grid grid-cols-1 gap-6">
      {description && <Prose text={description} />}
      <DetailSection title={referenceStrings.body}>
        <ResponseBody
          status={operation.path}
          schema={schema && nestedSchema(schema, schemas)}
          schemas={schemas}
          example={example}
        />
      </DetailSection>
    </div>
  );
}

function DetailSection({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="grid grid-cols-1 gap-2">
      <h3 className="text-sm font-medium">{title}</h3>
      {children}
    </div>
  );
}

/** The fields of a body next to an example of it. */
function ResponseBody({
  status,
  schema,
  schemas,
  example,
}: {
  readonly status: string;
  readonly schema: Parameters<typeof FieldList>[0]['schema'] | undefined;
  readonly schemas: Reference['components']['schemas'];
  readonly example: unknown;
}) {
  const label = referenceStrings.exampleOf(referenceStrings.response(status));
  return (
    <div className="grid grid-cols-1 items-start gap-5 wide:grid-cols-2">
      {schema !== undefined && <FieldList schema={schema} schemas={schemas} />}
      {typeof example === 'string' && <CodeSnippet label={label} code={example} />}
      {typeof example === 'object' && example !== null && <JsonInspector label={label} value={example} />}
    </div>
  );
}
