import type { AuthenticationCreds } from 'baileys';
import type { Baileys } from '../link/load.ts';

/** The session's own number. The network knows it by two addresses: that of the phone number, and the LID. */
export class Self {
  readonly #baileys: Baileys;
  readonly #creds: AuthenticationCreds;

  constructor(baileys: Baileys, creds: AuthenticationCreds) {
    this.#baileys = baileys;
    this.#creds = creds;
  }

  /** Digits; empty until the device is linked. */
  get phoneNumber(): string {
    return this.#baileys.jidDecode(this.#creds.me?.id)?.user ?? '';
  }

  /** The address of the phone number, without a device; empty until the device is linked. */
  get jid(): string {
    return this.#baileys.jidNormalizedUser(this.#creds.me?.id);
  }

  /** The LID as an address, without a device; empty until it is known. */
  get lidJid(): string {
    return this.#baileys.jidNormalizedUser(this.#creds.me?.lid);
  }

  /** Both addresses. Throws until the device is linked. */
  get addresses(): { readonly id: string; readonly lid: string } {
    const { me } = this.#creds;
    if (me === undefined) throw new Error('the device is not linked yet');
    return { id: me.id, lid: me.lid ?? '' };
  }

  is(jid: string | null | undefined): boolean {
    if (!jid) return false;
    const { areJidsSameUser } = this.#baileys;
    return areJidsSameUser(jid, this.#creds.me?.id) || areJidsSameUser(jid, this.#creds.me?.lid);
  }
}
