import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { SessionHost } from '../connector.ts';
import type { Graph } from './graph.ts';
import type { CloudOptions } from './options.ts';

const Overridden = Compile(Type.Object({ webhook_configuration: Type.Object({ phone_number: Type.String() }) }));

/** The callback URL at Meta for the session's number only. It can also be set by hand. */
export class CallbackUrl {
  readonly #host: SessionHost;
  readonly #graph: Graph;
  readonly #options: CloudOptions;
  #isSet = false;

  constructor(host: SessionHost, graph: Graph, options: CloudOptions) {
    this.#host = host;
    this.#graph = graph;
    this.#options = options;
  }

  /** Sets the URL, unless that has already succeeded. */
  async set(signal: AbortSignal): Promise<void> {
    if (this.#isSet) return;
    this.#isSet = true;
    const { phoneNumberId, businessAccountId, verifyToken } = this.#options;
    const { callbackUrl, log } = this.#host;
    try {
      if (businessAccountId !== undefined) await this.#graph.call('POST', `${businessAccountId}/subscribed_apps`);
      if (callbackUrl === null) return;
      await this.#graph.call('POST', phoneNumberId, {
        webhook_configuration: { override_callback_uri: callbackUrl.href, verify_token: verifyToken },
      });
    } catch (error) {
      this.#isSet = false;
      if (!signal.aborted) log.warn({ err: error }, 'failed to set the callback URL; set it in the app at Meta');
    }
  }

  /** Removes the URL, unless another one was set since, such as that of a newer session of the number. */
  async remove(): Promise<void> {
    const { callbackUrl, log } = this.#host;
    const { phoneNumberId } = this.#options;
    if (callbackUrl === null) return;
    try {
      const answer = await this.#graph.call('GET', `${phoneNumberId}?fields=webhook_configuration`);
      if (Overridden.Check(answer) && answer.webhook_configuration.phone_number !== callbackUrl.href) return;
      await this.#graph.call('POST', phoneNumberId, { webhook_configuration: { override_callback_uri: '' } });
    } catch (error) {
      log.warn({ err: error }, 'failed to remove the callback URL at Meta');
    }
  }
}
