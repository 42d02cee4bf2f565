import { LONGEST_IN_MINUTES, type BuyerTexts } from './texts.ts';

const minutesOf = (count: number): string => {
  if (count > LONGEST_IN_MINUTES) return `${Math.ceil(count / 60)}\u00a0heures`;
  return count === 1 ? 'une minute' : `${count}\u00a0minutes`;
};

const daysOf = (count: number): string => (count === 1 ? '1\u00a0jour' : `${count}\u00a0jours`);

const lastDaysOf = (count: number): string =>
  count === 1 ? 'des dernières 24\u00a0heures' : `des ${count}\u00a0derniers jours`;

/** Zero is singular in French. */
const computersOf = (count: number): string =>
  count < 2 ? `${count}\u00a0ordinateur` : `${count}\u00a0ordinateurs`;

export const french: BuyerTexts = {
  title: 'Vos licences',
  intro:
    'Consultez vos ordinateurs, libérez celui que vous n’utilisez plus et recevez vos clés de nouveau.',
  keyDoor: {
    heading: 'Avec votre clé de licence',
    label: 'Clé de licence',
    hint: 'Elle figure dans l’e-mail reçu après votre achat. Majuscules et minuscules n’ont pas d’importance.',
    button: 'Afficher cette licence',
  },
  emailDoor: {
    heading: 'Avec votre adresse e-mail',
    label: 'Adresse e-mail',
    hint: 'Celle que vous avez indiquée lors de l’achat. Vous recevrez un code par e-mail.',
    button: 'Recevoir un code',
  },
  code: {
    title: 'Saisissez votre code',
    sent: 'S’il existe des licences à votre adresse, un e-mail contenant un code de six caractères est en route. Le code est valable 15\u00a0minutes.',
    late: 'Pas d’e-mail après quelques minutes\u202f? Regardez dans les indésirables, et essayez l’adresse indiquée lors de l’achat.',
    label: 'Code',
    button: 'Afficher mes licences',
    again: 'Demander un autre code',
  },
  errors: {
    title: (title) => `Erreur\u00a0: ${title}`,
    key: 'Aucune licence n’a cette clé. Copiez-la de nouveau en entier depuis l’e-mail.',
    address: 'Ce n’est pas une adresse e-mail. Saisissez-la comme nom@example.com.',
    codeWrong: (left) =>
      `Ce n’est pas le code. Utilisez l’e-mail le plus récent\u00a0; il vous reste ${left === 1 ? 'un essai' : `${left}\u00a0essais`}.`,
    codeOver: 'Ce code n’est plus valable. Demandez-en un autre.',
    codeLimit: (minutes) =>
      `Trop de codes ont été demandés pour cette adresse. Utilisez le dernier e-mail, connectez-vous avec votre clé de licence, ou réessayez dans ${minutesOf(minutes)}.`,
    tooMany: (minutes) => `Il y a eu trop d’essais. Réessayez dans ${minutesOf(minutes)}.`,
    signedOut:
      'Vous n’êtes pas connecté. Une connexion dure 30\u00a0minutes et nécessite les cookies.',
    notFound: 'Cette page n’affiche aucune de vos licences. Recommencez.',
    otherOrigin: 'Un autre site a envoyé ce formulaire. Ouvrez cette page elle-même et réessayez.',
    noMail:
      'Aucun e-mail ne peut être envoyé actuellement. Connectez-vous avec votre clé de licence.',
    https: 'Cette page ne fonctionne qu’en https. Merci de le signaler au vendeur.',
    tooLarge: 'Ce fichier est trop grand pour être une demande.',
  },
  status: {
    active: ({ end, isCancelScheduled, isSubscription, isTrial }) => {
      if (end === null) return { sentence: 'Valable sans limite de durée.', advice: null };
      if (isTrial) return { sentence: `Essai jusqu’au ${end}.`, advice: null };
      if (isCancelScheduled) {
        return {
          sentence: `Valable jusqu’au ${end}. L’abonnement est résilié et prendra fin à cette date.`,
          advice: null,
        };
      }
      const sentence = isSubscription
        ? `Valable. Payée jusqu’au ${end}.`
        : `Valable jusqu’au ${end}.`;
      return { sentence, advice: null };
    },
    past_due: ({ end }) => ({
      sentence: `Encore valable, mais le paiement dû le ${end ?? 'dernier terme'} n’a pas été reçu.`,
      advice:
        'Vérifiez votre carte auprès du service de paiement, afin que le logiciel continue de fonctionner.',
    }),
    expired: ({ end, isTrial }) => ({
      sentence: `${isTrial ? 'L’essai' : 'Cette licence'} a pris fin le ${end ?? 'dernier jour'}.`,
      advice: 'Achetez une licence pour continuer.',
    }),
    canceled: ({ end }) => ({
      sentence: `L’abonnement a pris fin le ${end ?? 'dernier jour'}.`,
      advice: 'Achetez une licence pour continuer.',
    }),
    paused: ({ end }) => ({
      sentence: `L’abonnement est en pause depuis ${end === null ? 'quelque temps' : `le ${end}`}.`,
      advice: 'Reprenez-le auprès du service de paiement.',
    }),
    suspended: () => ({
      sentence: 'Cette licence est suspendue, le logiciel ne fonctionne donc pas.',
      advice: 'Écrivez au vendeur.',
    }),
    refunded: () => ({
      sentence: 'Le paiement a été remboursé, cette licence n’est donc plus valable.',
      advice: null,
    }),
    revoked: () => ({
      sentence: 'Le vendeur a mis fin à cette licence.',
      advice: 'Écrivez au vendeur si vous n’en connaissez pas la raison.',
    }),
  },
  list: {
    none: 'Il n’y a pas de licence à cette adresse. Vous en avez peut-être indiqué une autre lors de l’achat. Vous pouvez aussi vous connecter avec votre clé de licence.',
    more: (count) =>
      `Voici les ${count}\u00a0licences les plus récentes. Connectez-vous avec la clé d’une plus ancienne pour la voir.`,
    machines: (active, max) => `${computersOf(active)} sur ${max} en service`,
    keyEnds: (hint) => `La clé se termine par ${hint}`,
    open: 'Afficher les ordinateurs',
    sendKeys: 'M’envoyer mes clés par e-mail',
    sendKeysHint: 'À l’adresse indiquée lors de l’achat, pour chaque licence valable.',
    keysSent: 'Vos clés sont en route vers l’adresse indiquée lors de l’achat.',
    noKeys:
      'Aucun e-mail n’a été envoyé\u00a0: il n’y a pas de licence valable avec une adresse e-mail.',
    signOut: 'Se déconnecter',
    back: 'Toutes les licences',
  },
  license: {
    updates: (end) => `Mises à jour comprises jusqu’au ${end}.`,
    updatesOver: (end) =>
      `Les mises à jour ont pris fin le ${end}. Les versions publiées jusqu’alors continuent de fonctionner.`,
    machines: 'Ordinateurs en service',
    none: 'Aucun ordinateur n’utilise cette licence.',
    unused: 'Saisissez la clé dans le logiciel sur un ordinateur pour l’y utiliser.',
    lastSeen: 'Dernière activité',
    version: 'Version',
    system: 'Système',
    since: 'En service depuis le',
    offlineUntil: 'Sans connexion jusqu’au',
    free: 'Libérer',
    freed: (machine) => `L’ordinateur ${machine} a été retiré. Sa place est libre.`,
    freedNotice: 'Le titulaire de la licence en est informé par e-mail.',
    deactivated: (count) => `Ordinateurs retirés (${count})`,
    deactivatedOn: 'Retiré le',
    moves: (left, days) =>
      left === 0
        ? `Au cours ${lastDaysOf(days)}, cette licence a été utilisée sur autant d’ordinateurs différents qu’elle le permet. Pour l’instant, seuls ceux-ci peuvent occuper une place libre.`
        : `Vous pouvez encore utiliser cette licence sur ${left === 1 ? 'un nouvel ordinateur' : `${left}\u00a0nouveaux ordinateurs`}. Un nouvel ordinateur compte pendant ${daysOf(days)}.`,
    portal: 'Carte, factures et abonnement',
    renew: 'Renouveler',
    upgrade: 'Passer à une version supérieure',
    page: (page, pages) => `Page ${page} sur ${pages}`,
    pages: 'Pages des ordinateurs',
    newer: 'Vus plus récemment',
    older: 'Vus il y a plus longtemps',
    oldest: 'Vus il y a le plus longtemps',
    contact: (address) => `Des questions\u202f? Écrivez à ${address}.`,
  },
  freeing: {
    title: 'Libérer cet ordinateur\u202f?',
    effect: (days) =>
      `Un autre ordinateur peut aussitôt prendre sa place. Sur cet ordinateur, le logiciel peut encore fonctionner pendant ${daysOf(days)} au plus, jusqu’à sa prochaine vérification de la licence.`,
    noMoves: (days) =>
      `Mais au cours ${lastDaysOf(days)}, cette licence a été utilisée sur autant d’ordinateurs différents qu’elle le permet\u00a0: pour l’instant, seul l’un d’eux peut prendre la place.`,
    mailed: 'Le titulaire de la licence en sera informé par e-mail.',
    button: 'Libérer cet ordinateur',
    cancel: 'Le garder',
    already: 'Cet ordinateur a déjà été retiré. Sa place est libre.',
    airgapped: (until) =>
      `Cet ordinateur fonctionne sans connexion jusqu’au ${until}, sa place ne se libère donc pas avant. S’il est perdu ou en panne, écrivez au vendeur.`,
    limit: (limit, days, from) =>
      `${computersOf(limit)} ${limit === 1 ? 'a été libéré' : 'ont été libérés'} au cours ${lastDaysOf(days)}, c’est la limite. Le prochain pourra l’être à partir du ${from}. S’il vous le faut plus tôt, écrivez au vendeur.`,
  },
  airgap: {
    link: 'Activer un ordinateur sans connexion',
    title: 'Un ordinateur sans connexion',
    about: (days) =>
      `Pour un ordinateur qui n’accède jamais à Internet. Il fonctionne alors pendant ${daysOf(days)}, et autant encore avec une nouvelle demande.`,
    steps: [
      'Dans le logiciel de cet ordinateur, choisissez l’activation sans connexion. Il affiche une demande.',
      'Apportez la demande ici\u00a0: scannez son code avec un téléphone, ou apportez-la sous forme de texte ou de fichier.',
      'Rapportez la réponse sur cet ordinateur, et collez-la dans le logiciel.',
    ],
    received: 'Votre demande est arrivée. Connectez-vous pour obtenir la réponse.',
    choose: 'Choisissez la licence que l’ordinateur de la demande doit utiliser.',
    none: 'Aucune de ces licences ne concerne le logiciel de la demande.',
    use: 'Utiliser cette licence',
    label: 'Demande sous forme de texte',
    file: 'Ou la demande sous forme de fichier',
    button: 'Créer la réponse',
    done: 'Votre réponse est prête',
    doneAbout: (machine) =>
      machine === null
        ? 'Elle ne fonctionne que sur l’ordinateur de la demande.'
        : `Elle ne fonctionne que sur l’ordinateur «\u00a0${machine}\u00a0».`,
    validUntil: (until) =>
      `Elle est valable jusqu’au ${until}. Jusque-là, cet ordinateur garde sa place.`,
    renew: 'Pour continuer ensuite, apportez ici une nouvelle demande avant cette date.',
    textLabel: 'Réponse à coller dans le logiciel',
    fileLink: 'Enregistrer comme fichier',
    codeLabel: 'La réponse sous forme de code, pour un ordinateur avec caméra',
    errors: {
      missing: 'Ce texte ne contient pas de demande. Une demande commence par LKR1.',
      damaged: 'Une partie de la demande manque ou a été modifiée. Copiez-la de nouveau en entier.',
      version: 'Cette demande est trop récente pour cette page. Merci de le signaler au vendeur.',
      content:
        'Le logiciel a créé une demande que cette page ne comprend pas. Merci de le signaler au vendeur.',
      machine: 'La demande ne désigne pas son ordinateur. Merci de le signaler au vendeur.',
      product:
        'Cette demande provient d’un autre produit que cette licence. Choisissez la licence de ce produit.',
      full: (max) =>
        `${max === 1 ? 'Le seul ordinateur' : `Les ${max}\u00a0ordinateurs`} de cette licence ${max === 1 ? 'est' : 'sont'} en service. ${max === 1 ? 'Libérez-le' : 'Libérez-en un'}, puis apportez la demande de nouveau.`,
      moves: (from) =>
        `Cette licence a été utilisée sur autant d’ordinateurs différents qu’elle le permet. Le prochain est possible à partir du ${from}. S’il vous le faut plus tôt, écrivez au vendeur.`,
    },
  },
};
