import { keepSignalContexts } from '../../../src/connectors/whatsapp/link/signalContexts.ts';

// The phones share a libsignal as sessions do. To be imported before anything that imports it.
keepSignalContexts();
