import { keepSignalContexts } from '../../../../src/connectors/whatsapp/link/signalContexts.ts';

// The phones share a libsignal like sessions do. Must be imported before anything that imports libsignal.
keepSignalContexts();
