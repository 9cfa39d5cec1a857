import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { CloudNumber } from './cloudNumber.ts';

const Overridden = Compile(Type.Object({ webhook_configuration: Type.Object({ phone_number: Type.String() }) }));

/** The callback URL at Meta for the session's number only. It can also be set by hand. */
export class CallbackUrl {
  readonly #number: CloudNumber;
  #isSet = false;

  constructor(number: CloudNumber) {
    this.#number = number;
  }

  async set(): Promise<void> {
    if (this.#isSet) return;
    this.#isSet = true;
    const { graph, monitor, options, host } = this.#number;
    const { phoneNumberId, businessAccountId, verifyToken } = options;
    const { callbackUrl, log } = host;
    try {
      if (businessAccountId !== undefined) await graph.call('POST', `${businessAccountId}/subscribed_apps`);
      if (callbackUrl === null) return;
      await graph.call('POST', phoneNumberId, {
        webhook_configuration: { override_callback_uri: callbackUrl.href, verify_token: verifyToken },
      });
    } catch (error) {
      this.#isSet = false;
      if (!monitor.isClosed) log.warn({ err: error }, 'failed to set the callback URL; set it in the app at Meta');
    }
  }

  /** Removes the URL, unless another one was set since, such as that of a newer session of the number. */
  async remove(): Promise<void> {
    const { graph, options, host } = this.#number;
    const { phoneNumberId } = options;
    const { callbackUrl, log } = host;
    if (callbackUrl === null) return;
    try {
      const answer = await graph.call('GET', `${phoneNumberId}?fields=webhook_configuration`);
      if (Overridden.Check(answer) && answer.webhook_configuration.phone_number !== callbackUrl.href) return;
      await graph.call('POST', phoneNumberId, { webhook_configuration: { override_callback_uri: '' } });
    } catch (error) {
      log.warn({ err: error }, 'failed to remove the callback URL at Meta');
    }
  }
}
