import type { WebhookDestination } from '@switchboard/sdk/api';
import { SelectField, TextArea, TextField } from '../../components/form/field.tsx';
import { destinationStrings as strings } from './destinationStrings.ts';
import { webhookStrings } from './strings.ts';

type Type = WebhookDestination['type'];
type FieldName = Exclude<keyof WebhookDestination, 'type'>;
type CredentialName = keyof typeof strings.credentials;
type EnteredCredentials = Readonly<Partial<Record<CredentialName, string>>>;

/** The fields of each type, and its credentials. */
const parts: Readonly<Record<Type, { fields: readonly FieldName[]; credentials: readonly CredentialName[] }>> = {
  http: { fields: [], credentials: [] },
  rabbitmq: { fields: ['exchange', 'routingKey'], credentials: ['username', 'password'] },
  nats: { fields: ['subject'], credentials: ['username', 'password', 'token', 'creds'] },
  redis: { fields: ['stream', 'maxLength'], credentials: ['username', 'password'] },
  kafka: { fields: ['topic', 'saslMechanism'], credentials: ['username', 'password'] },
  sqs: { fields: ['region'], credentials: ['accessKeyId', 'secretAccessKey', 'sessionToken'] },
};
const required: ReadonlySet<FieldName> = new Set(['routingKey', 'subject', 'stream', 'topic']);

/** The names of the fields as in the request, for a form that shows the errors of all of them. */
export const destinationFieldNames = [
  'destination',
  'destination.type',
  ...Object.values(parts).flatMap(({ fields }) => fields.map((name) => `destination.${name}`)),
  ...Object.keys(strings.credentials).map((name) => `credentials.${name}`),
];

export interface Receiver {
  readonly webhookUrl: string;
  readonly destination: WebhookDestination;
  readonly credentials: EnteredCredentials;
}

type Problem = (field: string) => string | undefined;

/** Selects where a webhook sends its events, and how. */
export function ReceiverFields({
  value,
  onChange,
  problem,
  known,
  urlHint,
  isHttpOnly = false,
  autoFocus = false,
}: {
  readonly value: Receiver;
  readonly onChange: (change: Partial<Receiver>) => void;
  readonly problem: Problem;
  /** The credentials that are set. */
  readonly known: readonly string[];
  readonly urlHint: string;
  readonly isHttpOnly?: boolean;
  readonly autoFocus?: boolean;
}) {
  const { webhookUrl, destination, credentials } = value;
  const { type } = destination;
  return (
    <>
      {!isHttpOnly && (
        <DestinationFields
          value={destination}
          onChange={(chosen) => onChange({ destination: chosen })}
          problem={problem}
        />
      )}
      <TextField
        label={webhookStrings.url}
        hint={type === 'http' ? urlHint : strings.urlHint}
        error={problem('webhookUrl')}
        type="url"
        required
        autoFocus={autoFocus}
        placeholder={strings.placeholders[type]}
        value={webhookUrl}
        onChange={(event) => onChange({ webhookUrl: event.currentTarget.value })}
      />
      <CredentialFields
        type={type}
        known={known}
        value={credentials}
        onChange={(entered) => onChange({ credentials: entered })}
        problem={problem}
      />
    </>
  );
}

function DestinationFields({
  value,
  onChange,
  problem,
}: {
  readonly value: WebhookDestination;
  readonly onChange: (destination: WebhookDestination) => void;
  readonly problem: Problem;
}) {
  const set = (name: FieldName, text: string) => onChange(withField(value, name, text));
  return (
    <>
      <SelectField
        label={strings.type}
        options={Object.entries(strings.names)}
        error={problem('destination') ?? problem('destination.type')}
        value={value.type}
        // one of the options
        onChange={(event) => onChange({ type: event.currentTarget.value as Type })}
      />
      {parts[value.type].fields.map((name) =>
        name === 'saslMechanism' ? (
          <SelectField
            key={name}
            {...strings.fields[name]}
            options={strings.mechanisms}
            error={problem(`destination.${name}`)}
            value={value.saslMechanism ?? 'plain'}
            onChange={(event) => set(name, event.currentTarget.value)}
          />
        ) : (
          <TextField
            key={name}
            {...strings.fields[name]}
            error={problem(`destination.${name}`)}
            type={name === 'maxLength' ? 'number' : 'text'}
            required={required.has(name) && !(name === 'routingKey' && value.exchange)}
            isOptional={!required.has(name)}
            spellCheck={false}
            value={value[name] ?? ''}
            onChange={(event) => set(name, event.currentTarget.value)}
          />
        ),
      )}
    </>
  );
}

/** Enters the credentials for a broker, which are never shown. */
function CredentialFields({
  type,
  known,
  value,
  onChange,
  problem,
}: {
  readonly type: Type;
  /** Those that are set. */
  readonly known: readonly string[];
  readonly value: EnteredCredentials;
  readonly onChange: (credentials: EnteredCredentials) => void;
  readonly problem: Problem;
}) {
  const { credentials } = parts[type];
  const isKnown = (name: string): name is CredentialName => name in strings.credentials;
  const labels = known.filter(isKnown).map((name) => strings.credentials[name]);
  return credentials.map((name, index) => {
    const field = {
      label: strings.credentials[name],
      hint: index > 0 ? undefined : labels.length > 0 ? strings.keepHint(labels) : strings.credentialsHint,
      error: problem(`credentials.${name}`),
      isOptional: true,
      value: value[name] ?? '',
      onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
        onChange({ ...value, [name]: event.currentTarget.value }),
    };
    // A .creds file has several lines.
    if (name === 'creds') return <TextArea key={name} {...field} autoComplete="off" spellCheck={false} />;
    return <TextField key={name} {...field} type="password" autoComplete="new-password" />;
  });
}

/** The credentials that were entered; undefined if there are none. */
export function enteredCredentials(type: Type, value: EnteredCredentials): EnteredCredentials | undefined {
  const entered = parts[type].credentials.flatMap((name) => (value[name] ? [[name, value[name]] as const] : []));
  return entered.length === 0 ? undefined : Object.fromEntries(entered);
}

function withField(destination: WebhookDestination, name: FieldName, text: string): WebhookDestination {
  const { [name]: _, ...others } = destination;
  if (text === '' && name !== 'routingKey') return others;
  return { ...others, [name]: name === 'maxLength' ? Number(text) : text };
}
