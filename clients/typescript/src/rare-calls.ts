/** What most runs of a program never call, but when a person does something: it is loaded then. */
export { activate, startTrial } from './calls/activate.ts';
export { deactivate, release } from './calls/deactivate.ts';
export { listMachines, moveHere } from './calls/machines.ts';
export { activatePurchase, pollPurchase } from './calls/purchase.ts';
export { forgetInstall, keepConsent } from './calls/sharing.ts';
export { explain } from './explain.ts';
export { joinFile } from './kept/join-file.ts';
export { acceptOfflineAnswer, createOfflineRequest } from './offline/offline.ts';
