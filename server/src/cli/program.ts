import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { confirmedCalls } from '../auth/keyScope.ts';
import { settingsHelp } from '../config.ts';
import { mediaTypes } from '../connectors/contract/content.ts';
import { messageStatuses } from '../db/tables/messages.ts';
import { deliveryStates } from '../db/tables/webhooks.ts';
import { STEPS } from '../messages/status.ts';
import { version } from '../version.ts';
import type { WhatsappDoctorOptions } from './commands/whatsappDoctor.ts';
import { addCompat } from './compat/compatCommand.ts';
import { firstSentence, shells } from './completion.ts';
import type { Context } from './context.ts';
import { addAccountFiles, addUpgrade, dataSettings } from './dataCommands.ts';
import { exitCodes } from './failure.ts';
import { type Adder, examples, type Handler, named, toInteger, toList } from './options.ts';

/** Runs a handler with the arguments and the options of its command. */
export type Perform = (load: () => Promise<Handler>, command: Command, values: readonly unknown[]) => Promise<void>;

/** Creates the tree of commands. `--help`, the completion and docs/cli.md derive from it. */
export function createProgram(perform: Perform): Command {
  const program = new Command('switchboard')
    .description('Runs Switchboard, a self-hosted messaging gateway, and works with a running one.')
    .usage('[options] [command]')
    .version(version, '--version', 'Print the version.')
    .helpOption('-h, --help', 'Explain the command.')
    .helpCommand('help [command]', 'Explain a command.')
    .option('--profile <name>', 'Profile of the login to use.')
    .option('--url <url>', 'Address of the server, in place of that of the profile.')
    .option('--json', 'Print JSON, one value per line.')
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => title })
    .showSuggestionAfterError()
    .addHelpText('after', examples('switchboard start', 'switchboard login', 'switchboard send 491707654321 "Hello"'))
    .addHelpText('after', `${environmentHelp}\n\n${exitCodeHelp()}`);
  const add: Adder = (parent, name, description, load) => {
    const command = parent
      .command(name)
      .summary(firstSentence(description))
      .description(description)
      .helpOption('-h, --help', 'Explain the command.');
    command.configureHelp({ showGlobalOptions: true });
    if (load === undefined) return command.helpCommand(false);
    return command.action((...values) => perform(load, command, values.slice(0, -1)));
  };
  const parts = [addServer, addLogin, addListening, addCompat, addSending, addLists, addSessions, addKeys, addWebhooks];
  for (const addPart of parts) addPart(program, add);
  return program;
}

/** `switchboard sessions list` */
export const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

const environmentHelp = `Environment:
  SWITCHBOARD_URL      Address of the server.
  SWITCHBOARD_KEY      API key. Without it, the key of the profile is used.
  SWITCHBOARD_PROFILE  Profile to use.
  SWITCHBOARD_CONFIG   Config file with the profiles.
  NO_COLOR             Turns colors off.`;

function exitCodeHelp(): string {
  const lines = Object.values(exitCodes).map(([code, meaning]) => `  ${String(code).padEnd(4)} ${meaning}`);
  return `Exit codes:\n${lines.join('\n')}\n`;
}

function addServer(program: Command, add: Adder): void {
  program.commandsGroup('The server of this machine:');
  add(program, 'start', 'Start the server. Without any command, switchboard does the same.', async () => {
    return async () => void (await import('../main.ts'));
  })
    .addHelpText('after', examples('switchboard start', 'PORT=8081 DATA_DIR=/var/lib/switchboard switchboard start'))
    .addHelpText('after', () => `\n${settingsHelp()}`);
  add(
    program,
    'backup',
    'Copy the database, the login secret and the files of a server on SQLite, which may be running, into a new folder. Run it with the settings of the server.',
    async () => (await import('./commands/data.ts')).backUpData,
  )
    .argument('<folder>', 'Folder that does not exist yet.')
    .addHelpText('after', examples('switchboard backup /backups/monday'))
    .addHelpText('after', () => `\n${settingsHelp(dataSettings)}`);
  add(
    program,
    'restore',
    'Check a backup and put it in place of DATA_DIR. The server must not be running. Run it with the settings of the server.',
    async () => (await import('./commands/data.ts')).restoreData,
  )
    .argument('<folder>', 'Folder that switchboard backup wrote.')
    .option('--replace', 'Move existing data into a folder of its own. Without this, existing data is refused.')
    .addHelpText(
      'after',
      examples('switchboard restore /backups/monday', 'switchboard restore /backups/monday --replace'),
    )
    .addHelpText('after', () => `\n${settingsHelp(dataSettings)}`);
  addUpgrade(program, add);
  add(
    program,
    'chatwoot',
    'Connect sessions to inboxes of Chatwoot, until Ctrl-C; with init, set up and test the inboxes. Needs the package switchboard-chatwoot. Settings come from the environment or a file.',
    async () => (await import('./commands/chatwoot.ts')).runChatwoot,
  )
    .addArgument(new Argument('[action]', 'Set up the inboxes, in place of running.').choices(['init']))
    .option('--config <file>', 'JSON file with the settings. Default: CHATWOOT_CONFIG.')
    .addHelpText('after', examples('switchboard chatwoot init --config chatwoot.json', 'switchboard chatwoot'));
  const admin = add(program, 'admin', 'Administer the server, through its database.');
  addAccountFiles(admin, add);
  add(
    admin,
    'reset-password',
    'Set a new password for an account and end its logins. Prints the new password. The server may be running. Run it with the settings of the server.',
    async () => (await import('./commands/admin.ts')).resetPasswordOf,
  )
    .argument('<email>', 'Email address of the account.')
    .option('--password-stdin', 'Read the new password from standard input.')
    .addHelpText(
      'after',
      examples(
        'switchboard admin reset-password you@example.com',
        'switchboard admin reset-password you@example.com --password-stdin < password.txt',
      ),
    );
}

function addLogin(program: Command, add: Adder): void {
  program.commandsGroup('Login:');
  add(
    program,
    'login',
    'Log in to a server. Creates an API key for this machine and stores only that. Asks for what you leave out; without a terminal, the password is read from SWITCHBOARD_PASSWORD or standard input.',
    async () => (await import('./commands/login.ts')).login,
  )
    .option('--email <email>', 'Email address of the account.')
    .option(
      '--key <key>',
      'Store this API key; - reads it from standard input. Default: SWITCHBOARD_KEY, if it is set.',
    )
    .addHelpText(
      'after',
      examples(
        'switchboard login',
        'switchboard login --url https://gateway.example.com --profile work',
        'switchboard login --key - < key.txt',
      ),
    );
  add(
    program,
    'logout',
    'Delete the key of the profile from this machine.',
    async () => (await import('./commands/login.ts')).logout,
  )
    .option('--revoke', 'Revoke the key as well. Needs the password.')
    .addHelpText('after', examples('switchboard logout', 'switchboard logout --profile work --revoke'));
  add(program, 'completion', 'Print the completion for a shell.', async () => {
    const { printCompletion } = await import('./completion.ts');
    return async (context: Context, shell: (typeof shells)[number]) => printCompletion(context, program, shell);
  })
    .addArgument(new Argument('<shell>', 'Your shell.').choices(shells))
    .addHelpText(
      'after',
      examples(
        'switchboard completion bash > ~/.local/share/bash-completion/completions/switchboard',
        'switchboard completion zsh > ~/.zfunc/_switchboard',
        'switchboard completion fish > ~/.config/fish/completions/switchboard.fish',
      ),
    );
}

function addListening(program: Command, add: Adder): void {
  program.commandsGroup('Events:');
  add(
    program,
    'listen',
    'Forward live events to a URL, with the body, the headers and the signatures of a webhook. Each event is sent once. Runs until Ctrl-C.',
    async () => (await import('./commands/listen.ts')).listen,
  )
    .requiredOption('--forward-to <url>', 'Receiver, such as http://localhost:3000/hook.')
    .option(
      '--events <types>',
      'Event types, separated by commas; patterns such as message.* work. Default: the first eight.',
      toList,
    )
    .option('--session <id>', 'Only events of this session.')
    .option(
      '--secret <secret>',
      'Secret that signs; - reads it from standard input. Default: SWITCHBOARD_WEBHOOK_SECRET, or a new one, which is printed.',
    )
    .option(
      '--include <groups>',
      'Groups of fields to add: network, contact, chat, session. Default: as for a webhook.',
      toList,
    )
    .option('--after <position>', 'Continue after this position, which an earlier run printed.')
    .option('--concurrency <n>', 'Requests at a time. Events of one chat stay in order.', toInteger(1, 64), 8)
    .option('--timeout <seconds>', 'Deadline of a request.', toInteger(1, 120), 15)
    .addHelpText(
      'after',
      examples(
        'switchboard listen --forward-to http://localhost:3000/hook',
        "switchboard listen --forward-to http://localhost:3000/hook --events 'message.*' --session ses_01M89NJQTNC8M197MCYMZVMRV3",
      ),
    );
  add(
    program,
    'tail',
    'Print events as they happen, until Ctrl-C.',
    async () => (await import('./commands/tail.ts')).tail,
  )
    .option('--events <types>', 'Event types, separated by commas; * for all. Default: the first eight.', toList)
    .option('--session <id>', 'Only events of this session.')
    .option('--after <position>', 'Start after this position, which an earlier run printed.')
    .addHelpText('after', examples('switchboard tail', "switchboard tail --events '*' --json"));
  add(
    program,
    'doctor',
    'Explain why a delivery has or has not arrived: its attempts, the circuit breaker, and what to do. Or check what WhatsApp accepts from a number: send to itself, react, reply, edit, delete, post a status. The output has no phone numbers or texts.',
    async () => async (context: Context, subject: string, options: WhatsappDoctorOptions) =>
      subject === 'whatsapp'
        ? (await import('./commands/whatsappDoctor.ts')).whatsappDoctor(context, options)
        : (await import('./commands/doctor.ts')).doctor(context, subject),
  )
    .argument(
      '<subject>',
      'Id of a delivery (dlv_…), from the log or from switchboard webhooks deliveries; or whatsapp for the check.',
    )
    .option('--session <id>', 'WhatsApp session to check. Needed if there are several. Without any, one is created.')
    .option('--pairing-code <number>', 'If the session is not linked: show a code for this number, not a QR code.')
    .option('--timeout <seconds>', 'Deadline of each step of the check.', toInteger(1, 600), 60)
    .addHelpText('after', examples('switchboard doctor dlv_01M89NJQTNC8M197MCYMZVMRV3', 'switchboard doctor whatsapp'));
}

function addSending(program: Command, add: Adder): void {
  program.commandsGroup('Messages:');
  add(program, 'send', 'Send a message or a file.', async () => (await import('./commands/send.ts')).send)
    .argument('<to>', 'Phone number in international form, or id of a group.')
    .argument(
      '[text]',
      'Text, or caption of the file; - reads it from standard input. Put -- in front of a text that begins with a dash.',
    )
    .option('--session <id>', 'Session to send from. Needed if there are several.')
    .option('--file <path>', 'Send this file.')
    .option('--media-url <url>', 'Send the file behind this https URL.')
    .addOption(new Option('--type <type>', 'How the file is shown. Default: by its content.').choices(mediaTypes))
    .option('--reply-to <id>', 'Reply to this message.')
    .option('--at <time>', 'Send at this time, such as 2027-01-31T09:00:00+01:00.')
    .addOption(new Option('--wait <status>', 'Wait until the message has this status.').choices(STEPS))
    .option('--timeout <seconds>', 'How long to wait.', toInteger(1, 86_400), 60)
    .option('--idempotency-key <key>', 'Repeating the command with the same key within 24 hours sends nothing.')
    .addHelpText(
      'after',
      examples(
        'switchboard send 491707654321 "Hello"',
        'switchboard send 491707654321 "The invoice" --file invoice.pdf --wait delivered',
        'date | switchboard send 491707654321 -',
      ),
    );
}

function addLists(program: Command, add: Adder): void {
  paged(
    add(
      program,
      'messages',
      'List messages, newest first.',
      async () => (await import('./commands/messages.ts')).listMessages,
    ),
  )
    .addOption(named('--session <id>', 'sessionId', 'Only messages of this session.'))
    .addOption(named('--chat <id>', 'chatId', 'Only this chat: a phone number, or the id of a group.'))
    .addOption(
      new Option('--direction <direction>', 'Only messages received, or only sent ones.').choices([
        'incoming',
        'outgoing',
      ]),
    )
    .addOption(new Option('--status <status>', 'Only messages with this status.').choices(messageStatuses))
    .option('--after <time>', 'Only messages at or after this time.')
    .option('--before <time>', 'Only messages before this time.')
    .addOption(named('--search <words>', 'q', 'Only messages with all of these words.'))
    .addHelpText('after', examples('switchboard messages', 'switchboard messages --status failed --json'));
  paged(
    add(
      program,
      'chats',
      'List chats, the most recent first.',
      async () => (await import('./commands/messages.ts')).listChats,
    ),
  )
    .addOption(named('--session <id>', 'sessionId', 'Only chats of this session.'))
    .addHelpText('after', examples('switchboard chats'));
  add(
    program,
    'export',
    'Write the sessions, messages, chats, contacts and groups of the account as JSON lines. Run it again with the same folder to continue an interrupted export.',
    async () => (await import('./commands/export.ts')).exportAccount,
  )
    .argument('<folder>', 'New folder, or that of an interrupted export.')
    .addHelpText('after', examples('switchboard export ./export'));
}

function addSessions(program: Command, add: Adder): void {
  program.commandsGroup('Sessions, keys and webhooks:');
  const sessions = add(program, 'sessions', 'Manage sessions: phone numbers on a network.');
  const load = () => import('./commands/sessions.ts');
  const id = ['<sessionId>', 'Id of the session (ses_…).'] as const;
  paged(add(sessions, 'list', 'List sessions, newest first.', async () => (await load()).listSessions)).addHelpText(
    'after',
    examples('switchboard sessions list'),
  );
  add(sessions, 'get', 'Show a session.', async () => (await load()).getSession)
    .argument(...id)
    .addHelpText('after', examples('switchboard sessions get ses_01M89NJQTNC8M197MCYMZVMRV3'));
  add(sessions, 'create', 'Create a session.', async () => (await load()).createSession)
    .option('--name <name>', 'Label for people.')
    .addOption(named('--network <name>', 'connector', 'Network, such as whatsapp. Default: that of the server.'))
    .addOption(
      named('--phone-number <number>', 'phoneNumber', 'Number of the session, if the network lets you choose it.'),
    )
    .option(
      '--options <json>',
      'Options of the network, as JSON; - reads it from standard input, because some are secret.',
    )
    .addHelpText(
      'after',
      examples(
        'switchboard sessions create --network whatsapp --name support',
        'switchboard sessions create --network whatsapp-cloud --options - < options.json',
      ),
    );
  add(sessions, 'connect', 'Connect a session. Shows the QR code that links a phone, and waits for it.', async () => {
    return (await load()).connectSession;
  })
    .argument(...id)
    .option('--pairing-code <number>', 'Show a code to enter on the phone with this number, in place of the QR code.')
    .option('--no-wait', 'Return at once.')
    .addHelpText(
      'after',
      examples(
        'switchboard sessions connect ses_01M89NJQTNC8M197MCYMZVMRV3',
        'switchboard sessions connect ses_01M89NJQTNC8M197MCYMZVMRV3 --pairing-code 491707654321',
      ),
    );
  add(sessions, 'disconnect', 'Take a session offline. It stays linked.', async () => (await load()).disconnectSession)
    .argument(...id)
    .addHelpText('after', examples('switchboard sessions disconnect ses_01M89NJQTNC8M197MCYMZVMRV3'));
  add(
    sessions,
    'restart',
    'Close and reopen the connection. The session stays linked.',
    async () => (await load()).restartSession,
  )
    .argument(...id)
    .addHelpText('after', examples('switchboard sessions restart ses_01M89NJQTNC8M197MCYMZVMRV3'));
  add(sessions, 'logout', 'Unlink a session from its phone.', async () => (await load()).logOutSession)
    .argument(...id)
    .addHelpText('after', examples('switchboard sessions logout ses_01M89NJQTNC8M197MCYMZVMRV3'));
  add(sessions, 'delete', 'Delete a session with all its data.', async () => (await load()).deleteSession)
    .argument(...id)
    .option('--yes', 'Confirm it.')
    .addHelpText('after', examples('switchboard sessions delete ses_01M89NJQTNC8M197MCYMZVMRV3 --yes'));
}

function addKeys(program: Command, add: Adder): void {
  const keys = add(program, 'keys', 'Manage API keys.');
  const load = () => import('./commands/keys.ts');
  add(
    keys,
    'create',
    'Create an API key and print it. Needs the password: it is asked for, or read from SWITCHBOARD_PASSWORD or standard input.',
    async () => (await load()).createKey,
  )
    .argument('<name>', 'Label for the key.')
    .option('--email <email>', 'Email address of the account. Default: that of the profile.')
    .option('--permissions <list>', 'Permissions, separated by commas, such as messages:*,*:read. Default: *', toList)
    .option('--expires-at <time>', 'When the key stops working.')
    .option('--sessions <ids>', 'Only these sessions.', toList)
    .option('--ips <networks>', 'Only from these networks.', toList)
    .option('--recipients <numbers>', 'Sends only to these numbers and groups.', toList)
    .option('--quota <n>', 'Messages per day.', toInteger(0, 1_000_000))
    .option('--confirm <kinds>', `Asks the user before these calls over MCP: ${confirmedCalls.join(',')}.`, toConfirmed)
    .option('--requires-approval', 'Holds every message until it is approved.')
    .addHelpText('after', examples('switchboard keys create "my integration" --permissions messages:send,events:read'));
  paged(add(keys, 'list', 'List API keys, newest first.', async () => (await load()).listKeys)).addHelpText(
    'after',
    examples('switchboard keys list'),
  );
  add(keys, 'revoke', 'Revoke an API key. Needs the password, like create.', async () => (await load()).revokeKey)
    .argument('<keyId>', 'Id of the key (key_…).')
    .option('--email <email>', 'Email address of the account. Default: that of the profile.')
    .addHelpText('after', examples('switchboard keys revoke key_01M89NJQTNC8M197MCYMZVMRV3'));
}

function addWebhooks(program: Command, add: Adder): void {
  const webhooks = add(program, 'webhooks', 'Manage webhooks and their deliveries.');
  const load = () => import('./commands/webhooks.ts');
  const optional = ['[webhookId]', 'Id of the webhook (whk_…). Default: the default webhook.'] as const;
  paged(add(webhooks, 'list', 'List webhooks, newest first.', async () => (await load()).listWebhooks)).addHelpText(
    'after',
    examples('switchboard webhooks list'),
  );
  add(
    webhooks,
    'set',
    'Set the URL and the event types of the default webhook. SWITCHBOARD_WEBHOOK_SECRET sets its secret.',
    async () => (await load()).setWebhook,
  )
    .argument('<url>', 'URL that receives events.')
    .option('--events <types>', 'Event types, separated by commas.', toList, ['message.incoming'])
    .option('--secret-stdin', 'Read the secret from standard input.')
    .addHelpText('after', examples("switchboard webhooks set https://example.com/hooks --events 'message.*'"));
  add(
    webhooks,
    'test',
    'Send a sample event and show each stage of the request.',
    async () => (await load()).testWebhook,
  )
    .argument(...optional)
    .option('--event <type>', 'Event type of the sample.')
    .addHelpText('after', examples('switchboard webhooks test'));
  add(
    webhooks,
    'reset',
    'Close the circuit breaker, so that held deliveries go out.',
    async () => (await load()).resetBreaker,
  )
    .argument(...optional)
    .addHelpText('after', examples('switchboard webhooks reset'));
  paged(add(webhooks, 'deliveries', 'List deliveries, newest first.', async () => (await load()).listDeliveries))
    .addOption(named('--webhook <id>', 'webhookId', 'Only deliveries of this webhook.'))
    .addOption(new Option('--state <state>', 'Only deliveries in this state.').choices(deliveryStates))
    .option('--event <type>', 'Only this event type.')
    .addOption(named('--message <id>', 'messageId', 'Only events about this message.'))
    .addOption(named('--phone-number <number>', 'phoneNumber', 'Only events of the chat with this number.'))
    .option('--after <time>', 'Only events at or after this time.')
    .option('--before <time>', 'Only events before this time.')
    .addHelpText('after', examples('switchboard webhooks deliveries --state failed'));
  add(webhooks, 'replay', 'Send settled deliveries again.', async () => (await load()).replay)
    .argument('[deliveryIds...]', 'Ids of deliveries (dlv_…).')
    .option('--from <time>', 'In place of ids: failed and expired ones from this time on.')
    .option('--to <time>', 'Up to this time.')
    .option('--events <types>', 'Only these event types.', toList)
    .addOption(named('--webhook <id>', 'webhookId', 'Only deliveries of this webhook.'))
    .option('--dry-run', 'Only count them.')
    .addHelpText(
      'after',
      examples(
        'switchboard webhooks replay dlv_01M89NJQTNC8M197MCYMZVMRV3',
        'switchboard webhooks replay --from 2026-07-01T12:00:00Z --to 2026-07-01T13:00:00Z --dry-run',
      ),
    );
}

function paged(command: Command): Command {
  return command
    .option('--limit <n>', 'Number of entries.', toInteger(1, 200))
    .option('--cursor <cursor>', 'Continue a list, with the position that it printed.');
}

function toConfirmed(text: string): string[] {
  const kinds = toList(text);
  if (!kinds.every((kind) => confirmedCalls.some((known) => known === kind)))
    throw new InvalidArgumentError(`Allowed are ${confirmedCalls.join(' and ')}.`);
  return kinds;
}
