import { LONGEST_IN_MINUTES, type BuyerTexts } from './texts.ts';

const minutesOf = (count: number): string => {
  if (count > LONGEST_IN_MINUTES) return `${Math.ceil(count / 60)} hours`;
  return count === 1 ? 'a minute' : `${count} minutes`;
};

const daysOf = (count: number): string => (count === 1 ? '1 day' : `${count} days`);

const lastDaysOf = (count: number): string =>
  count === 1 ? 'last 24 hours' : `last ${count} days`;

const computersOf = (count: number): string => (count === 1 ? '1 computer' : `${count} computers`);

export const english: BuyerTexts = {
  title: 'Your licenses',
  intro: 'See your computers, free one that you no longer use, and get your keys again.',
  keyDoor: {
    heading: 'With your license key',
    label: 'License key',
    hint: 'From the e-mail after your purchase. Upper and lower case do not matter.',
    button: 'Show this license',
  },
  emailDoor: {
    heading: 'With your e-mail address',
    label: 'E-mail address',
    hint: 'The one with which you bought. You get a code by e-mail.',
    button: 'Send me a code',
  },
  code: {
    title: 'Enter your code',
    sent: 'If there are licenses under your address, an e-mail with a code of six characters is on its way. The code works for 15 minutes.',
    late: 'No e-mail after a few minutes? Look into the spam folder, and try the address with which you bought.',
    label: 'Code',
    button: 'Show my licenses',
    again: 'Ask for another code',
  },
  errors: {
    title: (title) => `Error: ${title}`,
    key: 'No license has this key. Copy it from the e-mail once more, all of it.',
    address: 'This is not an e-mail address. Enter it like name@example.com.',
    codeWrong: (left) =>
      `This is not the code. Use the newest e-mail; you can try ${left === 1 ? 'once more' : `${left} more times`}.`,
    codeOver: 'This code does not work any more. Ask for another one.',
    codeLimit: (minutes) =>
      `Too many codes were requested for this address. Use the newest e-mail, sign in with your license key, or try again in ${minutesOf(minutes)}.`,
    tooMany: (minutes) => `There were too many tries. Try again in ${minutesOf(minutes)}.`,
    signedOut: 'You are not signed in. A sign-in lasts 30 minutes and needs cookies.',
    notFound: 'This page shows none of your licenses. Start again.',
    otherOrigin: 'Another website sent this form. Open this page itself and try again.',
    noMail: 'No e-mail can be sent at present. Sign in with your license key.',
    https: 'This page works over https only. Please tell the seller.',
    tooLarge: 'This file is too large to be a request.',
  },
  status: {
    active: ({ end, isCancelScheduled, isSubscription, isTrial }) => {
      if (end === null) return { sentence: 'Works, with no end date.', advice: null };
      if (isTrial) return { sentence: `Trial until ${end}.`, advice: null };
      if (isCancelScheduled) {
        return {
          sentence: `Works until ${end}. The subscription is cancelled and ends then.`,
          advice: null,
        };
      }
      const sentence = isSubscription ? `Works. Paid until ${end}.` : `Works until ${end}.`;
      return { sentence, advice: null };
    },
    past_due: ({ end }) => ({
      sentence: `Still works, but the payment due on ${end ?? 'the last date'} has not arrived.`,
      advice: 'Check your card with the payment service, so that the software goes on working.',
    }),
    expired: ({ end, isTrial }) => ({
      sentence: `${isTrial ? 'The trial' : 'This license'} ended on ${end ?? 'its last day'}.`,
      advice: 'Buy a license to go on.',
    }),
    canceled: ({ end }) => ({
      sentence: `The subscription ended on ${end ?? 'its last day'}.`,
      advice: 'Buy a license to go on.',
    }),
    paused: ({ end }) => ({
      sentence: `The subscription is paused since ${end ?? 'some time'}.`,
      advice: 'Resume it with the payment service.',
    }),
    suspended: () => ({
      sentence: 'This license is suspended, so the software does not work.',
      advice: 'Write to the seller.',
    }),
    refunded: () => ({
      sentence: 'The payment was refunded, so this license does not work any more.',
      advice: null,
    }),
    revoked: () => ({
      sentence: 'The seller ended this license.',
      advice: 'Write to the seller if you do not know why.',
    }),
  },
  list: {
    none: 'There are no licenses under this address. Perhaps you bought with another one; or sign in with your license key.',
    more: (count) =>
      `These are the newest ${count} licenses. Sign in with its key to see an older one.`,
    machines: (active, max) => `${active} of ${computersOf(max)} in use`,
    keyEnds: (hint) => `Key ends in ${hint}`,
    open: 'Show computers',
    sendKeys: 'E-mail my keys to me',
    sendKeysHint: 'To the address of the purchase, for every license that works.',
    keysSent: 'Your keys are on their way to the address of the purchase.',
    noKeys: 'No e-mail was sent: there is no license that works and has an e-mail address.',
    signOut: 'Sign out',
    back: 'All licenses',
  },
  license: {
    updates: (end) => `Gets updates until ${end}.`,
    updatesOver: (end) =>
      `Updates ended on ${end}. Versions that were published until then go on working.`,
    machines: 'Computers in use',
    none: 'No computer uses this license.',
    unused: 'Enter the key in the software on a computer to use it there.',
    lastSeen: 'Last seen',
    version: 'Version',
    system: 'System',
    since: 'In use since',
    offlineUntil: 'Without a connection until',
    free: 'Free',
    freed: (machine) => `Computer ${machine} is removed. Its place is free.`,
    freedNotice: 'The owner of the license gets an e-mail about it.',
    deactivated: (count) => `Computers that were removed (${count})`,
    deactivatedOn: 'Removed on',
    moves: (left, days) =>
      left === 0
        ? `In the ${lastDaysOf(days)}, this license was used on as many different computers as it allows. For now, only those can use a free place.`
        : `You can still use this license on ${left === 1 ? 'one more new computer' : `${left} more new computers`}. A new computer counts for ${daysOf(days)}.`,
    portal: 'Card, invoices and subscription',
    renew: 'Renew',
    upgrade: 'Upgrade',
    page: (page, pages) => `Page ${page} of ${pages}`,
    pages: 'Pages of computers',
    newer: 'Seen more recently',
    older: 'Seen longer ago',
    oldest: 'Seen longest ago',
    contact: (address) => `Questions? Write to ${address}.`,
  },
  freeing: {
    title: 'Free this computer?',
    effect: (days) =>
      `Another computer can take its place at once. The software on this computer may run for up to ${days === 1 ? '1 more day' : `${days} more days`}, until it next checks the license.`,
    noMoves: (days) =>
      `But in the ${lastDaysOf(days)}, this license was used on as many different computers as it allows: for now, only one of those can take the place.`,
    mailed: 'The owner of the license gets an e-mail about it.',
    button: 'Free this computer',
    cancel: 'Keep it',
    already: 'This computer is removed already. Its place is free.',
    airgapped: (until) =>
      `This computer runs without a connection until ${until}, so its place is not free before. If it is lost or broken, write to the seller.`,
    limit: (limit, days, from) =>
      `${computersOf(limit)} ${limit === 1 ? 'was' : 'were'} freed in the ${lastDaysOf(days)}, which is the limit. The next one can be freed from ${from}. If you need it sooner, write to the seller.`,
  },
  airgap: {
    link: 'Activate a computer without a connection',
    title: 'A computer without a connection',
    about: (days) =>
      `For a computer that never reaches the internet. It can then run for ${daysOf(days)}, and for as long again with a new request.`,
    steps: [
      'In the software on that computer, choose the activation without a connection. It shows a request.',
      'Bring the request here: scan its code with a phone, or bring it as a text or as a file.',
      'Take the answer back to that computer, and paste it into the software.',
    ],
    received: 'Your request is here. Sign in to get the answer.',
    choose: 'Choose the license that the computer of the request shall use.',
    none: 'None of these licenses is for the software of the request.',
    use: 'Use this license',
    label: 'Request, as a text',
    file: 'Or the request, as a file',
    button: 'Create the answer',
    done: 'Your answer is ready',
    doneAbout: (machine) =>
      machine === null
        ? 'It works on the computer of the request alone.'
        : `It works on the computer “${machine}” alone.`,
    validUntil: (until) => `It is valid until ${until}. Until then, this computer keeps its place.`,
    renew: 'To go on after that, bring a new request here before this day.',
    textLabel: 'Answer, to paste into the software',
    fileLink: 'Save as a file',
    codeLabel: 'The answer as a code, for a computer with a camera',
    errors: {
      missing: 'There is no request in this text. It begins with LKR1.',
      damaged: 'Part of the request is missing or changed. Copy all of it again.',
      version: 'This request is newer than this page understands. Please tell the seller.',
      content:
        'The software created a request that this page does not understand. Please tell the seller.',
      machine: 'The request does not name its computer. Please tell the seller.',
      product:
        'This request is from another product than this license. Choose the license of that product.',
      full: (max) =>
        `${max === 1 ? 'The only computer of this license is' : `All ${max} computers of this license are`} in use. Free ${max === 1 ? 'it' : 'one of them'}, then bring the request again.`,
      moves: (from) =>
        `This license was used on as many different computers as it allows. The next one is possible from ${from}. If you need it sooner, write to the seller.`,
    },
  },
};
