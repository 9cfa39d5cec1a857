import type { Command } from 'commander';
import { type Adder, examples, named, toInteger, toList } from '../options.ts';

export function addCompat(program: Command, add: Adder): void {
  add(
    program,
    'compat',
    'Serve the most used routes of WAHA and send its events, for programs that were written for WAHA. Uses the key of the profile. Runs until Ctrl-C.',
    async () => (await import('./compat.ts')).serveCompat,
  )
    .option('--waha', 'Serve the API of WAHA.')
    .option('--host <address>', 'Address to listen on.', '127.0.0.1')
    .option('--port <n>', 'Port to listen on.', toInteger(0, 65_535), 3000)
    .option(
      '--api-key <key>',
      'Key that callers send as X-Api-Key; - reads it from standard input. Default: WAHA_API_KEY, or a new one, which is printed.',
    )
    .option('--forward-to <url>', 'Receiver of the events of all sessions. WHATSAPP_HOOK_HMAC_KEY signs them.')
    .option('--events <types>', "WAHA's events for that receiver, separated by commas; * for all.", toList, [
      'message',
      'session.status',
    ])
    .option('--events-url <url>', 'Address where the server reaches this command. Default: where it listens.')
    .option('--public-url <url>', 'Address of this command in the URLs of files. Default: where it listens.')
    .option('--name <name>', 'Distinguishes several commands of an account. Each serves its own receivers.', 'default')
    .addOption(named('--network <name>', 'connector', 'Network of new sessions. Default: the default of the server.'))
    .addHelpText(
      'after',
      examples(
        'switchboard compat --waha',
        'WAHA_API_KEY=… switchboard compat --waha --forward-to http://localhost:5678/webhook/waha --events message,message.ack',
      ),
    );
}
