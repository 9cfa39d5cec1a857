import { type ReactNode, useContext } from 'react';
import { classes } from '../../components/classes.ts';
import { Card } from '../../components/page/layout.tsx';
import { CodeSnippet, CodeSnippets } from '../../components/schema/codeSnippet.tsx';
import { JsonInspector } from '../../components/schema/jsonInspector.tsx';
import { Phrase, Prose } from '../../components/text/prose.tsx';
import type { Operation, Parameter, Reference } from '../../openapi.ts';
import type { Schema } from '../../schema.ts';
import { exampleCode } from './exampleCode.ts';
import { FieldLine, FieldList } from './fieldList.tsx';
import { LanguageContext } from './language.ts';
import { nestedSchema } from './schemaText.ts';
import { referenceStrings } from './strings.ts';

type Components = Reference['components'];

interface OperationProps {
  readonly operation: Operation;
  readonly components: Components;
}

/** The details of an operation: its input, its responses and its errors, beside examples. */
export function OperationDetails({ operation, components }: OperationProps) {
  const { description, parameters = [], requestBody, responses } = operation;
  const language = useContext(LanguageContext);
  const successes = Object.entries(responses).filter(([status]) => status < '400');
  const failures = Object.entries(responses).filter(([status]) => status >= '400' && status !== 'default');
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  return (
    <Columns
      aside={
        <>
          <Card title={referenceStrings.example}>
            <CodeSnippets
              label={referenceStrings.examples}
              snippets={exampleCode(operation, location.origin)}
              {...(language && { choice: language })}
            />
          </Card>
          <ResponseExamples responses={successes} />
        </>
      }
    >
      {description && (
        <div className="grid gap-3">
          <Prose text={description} />
        </div>
      )}
      {parameters.length > 0 && <Parameters parameters={parameters} />}
      {body && (
        <DetailSection title={referenceStrings.body}>
          <Fields schema={body} components={components} />
        </DetailSection>
      )}
      <DetailSection title={referenceStrings.responses}>
        {successes.map(([status, { description: meaning, content = {} }]) => (
          <div key={status} className="grid grid-cols-1 gap-3">
            <p className="text-sm">
              <code className="font-medium text-good">{status}</code> <Phrase text={meaning} />{' '}
              <span className="text-ink-faint">{Object.keys(content).join(', ')}</span>
            </p>
            {Object.entries(content).map(
              ([type, { schema }]) => schema && <Fields key={type} schema={schema} components={components} />,
            )}
          </div>
        ))}
      </DetailSection>
      {failures.length > 0 && (
        <DetailSection title={referenceStrings.errorResponses}>
          <Failures failures={failures} components={components} />
        </DetailSection>
      )}
    </Columns>
  );
}

/** The details of an event type: its payload beside an example. */
export function EventDetails({ operation, components }: OperationProps) {
  const { description, requestBody } = operation;
  const { schema, example } = requestBody?.content['application/json'] ?? {};
  return (
    <Columns
      aside={
        <Example
          title={referenceStrings.delivery}
          label={referenceStrings.response(operation.path)}
          example={example}
        />
      }
    >
      <div className="grid gap-3">
        {description && <Prose text={description} />}
        <p className="max-w-prose text-sm text-ink-soft">
          {referenceStrings.receiving}{' '}
          <a href="/docs/guides/webhooks" className="text-accent underline underline-offset-2">
            {referenceStrings.webhooksGuide}
          </a>
        </p>
      </div>
      <DetailSection title={referenceStrings.body}>
        {schema && <Fields schema={schema} components={components} isOpen />}
      </DetailSection>
    </Columns>
  );
}

/** The details of a schema: its fields. */
export function SchemaDetails({ schema, components }: { readonly schema: Schema; readonly components: Components }) {
  return (
    <div className="grid grid-cols-1 gap-6">
      {schema.description && <Prose text={schema.description} />}
      <DetailSection title={referenceStrings.fields}>
        <Fields schema={schema} components={components} />
      </DetailSection>
    </div>
  );
}

/** Details beside examples on a wide screen, and above them on a narrow one. */
function Columns({ children, aside }: { readonly children: ReactNode; readonly aside: ReactNode }) {
  return (
    <div className="grid grid-cols-1 items-start gap-x-10 gap-y-8 xl:grid-cols-[minmax(0,1fr)_minmax(0,28rem)] 2xl:grid-cols-[minmax(0,1fr)_minmax(0,32rem)]">
      <div className="grid min-w-0 grid-cols-1 gap-8">{children}</div>
      <div className="grid min-w-0 grid-cols-1 gap-5 xl:sticky xl:top-20 xl:max-h-[calc(100dvh-6rem)] xl:overflow-y-auto">
        {aside}
      </div>
    </div>
  );
}

function DetailSection({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="grid grid-cols-1 gap-3">
      <h2 className="border-b border-line pb-2 font-semibold">{title}</h2>
      {children}
    </section>
  );
}

function Parameters({ parameters }: { readonly parameters: readonly Parameter[] }) {
  return (
    <DetailSection title={referenceStrings.parameters}>
      <ul className="grid grid-cols-1 gap-3">
        {parameters.map(({ name, in: place, required, schema, description }) => (
          <li key={`${place} ${name}`}>
            <FieldLine
              name={name}
              schema={schema}
              description={description}
              notes={[referenceStrings.places[place] ?? place, ...(required ? [referenceStrings.required] : [])]}
            />
          </li>
        ))}
      </ul>
    </DetailSection>
  );
}

/** The fields of an object, or what another value is. */
function Fields({
  schema,
  components: { schemas },
  isOpen = false,
}: {
  readonly schema: Schema;
  readonly components: Components;
  readonly isOpen?: boolean;
}) {
  const inside = nestedSchema(schema, schemas);
  if (inside !== undefined) return <FieldList schema={inside} schemas={schemas} isOpen={isOpen} />;
  return schema.description === undefined ? null : <Prose text={schema.description} />;
}

function ResponseExamples({
  responses,
}: {
  readonly responses: readonly (readonly [string, Operation['responses'][string]])[];
}) {
  return responses.flatMap(([status, { content = {} }]) =>
    Object.entries(content).map(([type, { example }]) => (
      <Example
        key={`${status} ${type}`}
        title={referenceStrings.response(status)}
        label={referenceStrings.response(`${status}, ${type}`)}
        example={example}
      />
    )),
  );
}

function Example({
  title,
  label,
  example,
}: {
  readonly title: string;
  readonly label: string;
  readonly example: unknown;
}) {
  if (example === undefined || example === null) return null;
  return (
    <Card title={title}>
      {typeof example === 'object' ? (
        <JsonInspector label={referenceStrings.exampleOf(label)} value={example} />
      ) : (
        <CodeSnippet label={referenceStrings.exampleOf(label)} code={String(example)} />
      )}
    </Card>
  );
}

/** The errors of an operation by status. Each code leads to its entry in the list of all errors. */
function Failures({
  failures,
  components: { examples },
}: {
  readonly failures: readonly (readonly [string, Operation['responses'][string]])[];
  readonly components: Components;
}) {
  return (
    <ul className="grid grid-cols-1 gap-1.5 text-sm">
      {failures.flatMap(([status, { description, content = {} }]) => {
        const codes = Object.keys(content['application/problem+json']?.examples ?? {});
        if (codes.length === 0)
          return (
            <li key={status} className="grid grid-cols-[3rem_minmax(0,1fr)]">
              <code className="text-bad">{status}</code>
              <span className="text-ink-soft">
                <Phrase text={description} />
              </span>
            </li>
          );
        return codes.map((code, index) => (
          <li key={code} className="grid grid-cols-[3rem_minmax(0,1fr)]">
            <code className={classes('text-bad', index > 0 && 'invisible')}>{status}</code>
            <span className="text-ink-soft">
              <a href={`/docs/errors#${code}`} className="text-ink underline decoration-line-strong underline-offset-3">
                <code>{code}</code>
              </a>{' '}
              <Phrase text={titleOf(examples[code])} />
            </span>
          </li>
        ));
      })}
    </ul>
  );
}

/** The title in the example of a problem. */
function titleOf(example: Components['examples'][string] | undefined): string {
  const { title } = (example?.value ?? {}) as { title?: string }; // a problem document
  return title ?? '';
}
