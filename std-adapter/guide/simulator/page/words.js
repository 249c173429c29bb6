"use strict";
// Every word of the page, in English and in Arabic.

const WORDS = {
  en: {
    title: "The simulator",
    about: "The real core of nanobreaker, compiled to WebAssembly: two breakers before the same made-up calls.",
    otherLanguage: "العربية",
    preset: "Preset", ownScene: "(your own)", play: "Play", pause: "Pause", restart: "From the start",
    speed: "Speed", fast: "as fast as it goes", copy: "Copy link", copied: "The link is copied.",
    saveLog: "Save log", saveToml: "Save as file", saved: "Saved as {file}.",
    stage: "What happens", drawHint: "Draw the outage into the upper picture with the mouse or a finger. With the keyboard: left and right choose a moment, up and down the share of calls that fails.",
    outageLabel: "Share of calls that fails, over time", laneLabel: "Breaker {lane}: {phase}. {good} good, {bad} failed, {saved} avoided, {lost} lost.",
    atMoment: "{share} % at {time}",
    figures: "What it comes to", tripsTitle: "Why it tripped", controls: "Settings",
    traffic: "Traffic", outageTitle: "Outage", outageKind: "Kind", failsHow: "Failing calls", breaker: "Breaker {lane}",
    window: "What trips (window)", toml: "The same as TOML: paste yours, copy the result",
    replayTitle: "Take it with you", replayHow: "The saved log has every call of this scene; the command plays it to the same trips:",
    link: "Link to this scene", working: "Loading …", broken: "The simulator can't start: {why}",
    good: "passed, succeeded", bad: "passed, failed or slow", savedCalls: "rejected, would have failed", lostCalls: "rejected, would have succeeded",
    closed: "closed", open: "open", half_open: "half-open", recovering: "recovering", isolated: "isolated (latched)",
    none: "none", dead: "dead: errors at once", hanging: "hanging: no answer", half: "half dead: a share fails",
    flapping: "flapping", recoveringOutage: "recovering slowly", drawn: "as drawn",
    error: "are answered with an error", hang: "hang until the timeout",
    failures: "failures: a number within a time", consecutive: "consecutive: failures in a row", calls: "calls: a rate over the last calls",
    time: "time: a rate over a time", cusum: "cusum: evidence that it is broken",
    seed: "Seed", length_s: "Length", rate: "Calls a second", latency_ms: "An answer takes, on average", timeout_ms: "Callers' timeout",
    background_ppm: "Fail on a good day", burst_every_s: "A burst of failures every (0: never)", burst_size: "Calls in a burst",
    outage_from_s: "It begins at", outage_for_s: "It lasts", share_percent: "Share that fails (half dead)", period_ms: "Period (flapping)",
    threshold: "threshold", within: "within", size: "size", span: "span", buckets: "buckets", failure_rate: "failure_rate", slow_rate: "slow_rate (0: off)",
    min_calls: "min_calls", normal: "normal", broken_rate: "broken", calls_per_false_trip: "calls_per_false_trip", sustained_for: "sustained_for",
    open_for: "open_for", max_open: "max_open", relapse_within: "relapse_within", max_probes: "max_probes", probe_successes: "probe_successes",
    probe_failures: "probe_failures", probe_lease: "probe_lease", ramp: "ramp", jitter_permille: "jitter_permille", latch: "latch",
    slow_after: "slow_after (0: off)", hung_after: "hung_after (0: off)",
    ms: "ms", s: "s", percent: "%", permille: "‰", count: "", switch: "", perSecond: "/s",
    figLost: "Good calls lost", figSaved: "Doomed calls avoided", figBad: "Doomed calls let through", figToTrip: "Time to trip",
    figToClose: "Time to close after the outage", figTrips: "Trips", figFalse: "of these while the dependency was well",
    figReopened: "Opened again before it closed", figNotClosed: "Time not closed", figWaited: "Callers waited for failures",
    figUnderWay: "Most calls under way at once", figCalls: "Calls", never: "–",
    tripAt: "At", tripWhy: "What it had seen", tripClosed: "Closed after", tripReopened: "Opened again", tripSaved: "Avoided", tripLost: "Lost",
    evidence: "{bad} of {calls} calls failed within {over}", evidenceSlow: "{bad} of {calls} calls were slow within {over}",
    whileWell: "the dependency was well", noTrips: "It did not trip.", moreTrips: "{count} more.", notYet: "not yet",
    article: "The article's outage", count_at_high_rate: "A count at a thousand calls a second", rate_of_few: "A rate of too few calls",
    blind_to_brownout: "50 % never sees a brown-out", open_too_long: "Open for far too long", open_shorter_than_timeout: "An open time shorter than the timeout",
    one_probe: "One probe closes it", bursts: "Bursts on a good day", no_backoff: "No backoff while it flaps", latched: "A latch after two seconds",
    slow_recovery: "It recovers slowly", a_hundred_thousand: "A hundred thousand calls a second",
    copyToml: "Copy", copiedToml: "The settings are copied.", inEnglish: "Refused: ", atPlace: "Line {line}, column {column}: ",
    outage: "Kind of outage", fails: "Failing calls", v: "Version of the link", kind: "kind",
  },
  ar: {
    title: "المحاكي",
    about: "نواة nanobreaker الحقيقية نفسها، مترجمةً إلى WebAssembly: قاطعان أمام النداءات المولَّدة ذاتها.",
    otherLanguage: "English",
    preset: "مشهد جاهز", ownScene: "(مشهدك)", play: "تشغيل", pause: "إيقاف مؤقت", restart: "من البداية",
    speed: "السرعة", fast: "بأقصى سرعة", copy: "نسخ الرابط", copied: "نُسخ الرابط.",
    saveLog: "حفظ السجل", saveToml: "حفظ في ملف", saved: "حُفظ باسم {file}.",
    stage: "ما الذي يحدث", drawHint: "ارسم العطل في الصورة العليا بالفأرة أو بالإصبع. وبلوحة المفاتيح: السهمان الأيمن والأيسر يختاران اللحظة، والأعلى والأسفل نسبة النداءات الفاشلة.",
    outageLabel: "نسبة النداءات الفاشلة عبر الزمن", laneLabel: "القاطع {lane}: {phase}. نجح {good}، وفشل {bad}، ومُنع {saved}، وضاع {lost}.",
    atMoment: "{share} % عند {time}",
    figures: "الحصيلة", tripsTitle: "لماذا فتح", controls: "الإعدادات",
    traffic: "حركة النداءات", outageTitle: "العطل", outageKind: "النوع", failsHow: "النداءات الفاشلة", breaker: "القاطع {lane}",
    window: "ما الذي يفتحه (النافذة)", toml: "الإعدادات نفسها بصيغة TOML: الصق إعداداتك أو انسخ الناتج",
    replayTitle: "خذه معك", replayHow: "في السجل المحفوظ كل نداء من هذا المشهد، وهذا الأمر يعيد تشغيله فيصل إلى الفتحات نفسها:",
    link: "رابط هذا المشهد", working: "جارٍ التحميل …", broken: "تعذّر بدء المحاكي: {why}",
    good: "مرّ ونجح", bad: "مرّ وفشل أو أبطأ", savedCalls: "رُفض وكان سيفشل", lostCalls: "رُفض وكان سينجح",
    closed: "مغلق (closed)", open: "مفتوح (open)", half_open: "نصف مفتوح (half-open)", recovering: "يتعافى (recovering)", isolated: "معزول (latched)",
    none: "بلا عطل", dead: "ميت: خطأ فوري", hanging: "معلّق: لا جواب", half: "نصف ميت: تفشل نسبة",
    flapping: "متقلّب (flapping)", recoveringOutage: "يتعافى ببطء", drawn: "كما رُسم",
    error: "يأتيها خطأ", hang: "تتعلّق حتى انقضاء المهلة",
    failures: "failures: عددٌ خلال زمن", consecutive: "consecutive: إخفاقات متتالية", calls: "calls: نسبة من آخر النداءات",
    time: "time: نسبة خلال زمن", cusum: "cusum: دليل على العطل",
    seed: "البذرة (seed)", length_s: "طول المشهد", rate: "نداءات في الثانية", latency_ms: "متوسط زمن الجواب", timeout_ms: "مهلة المنادي (timeout)",
    background_ppm: "تفشل في يوم جيد", burst_every_s: "دفعة إخفاقات كل (0: أبدًا)", burst_size: "نداءات الدفعة",
    outage_from_s: "يبدأ عند", outage_for_s: "يدوم", share_percent: "النسبة الفاشلة (نصف ميت)", period_ms: "الدورة (متقلّب)",
    threshold: "العتبة threshold", within: "خلال within", size: "الحجم size", span: "المدى span", buckets: "الأقسام buckets", failure_rate: "نسبة الإخفاق failure_rate", slow_rate: "نسبة البطء slow_rate (0: معطّل)",
    min_calls: "أقل عدد min_calls", normal: "المعتاد normal", broken_rate: "المعطوب broken", calls_per_false_trip: "نداءات بين فتحتين خاطئتين calls_per_false_trip", sustained_for: "دوام الدليل sustained_for",
    open_for: "مدة الفتح open_for", max_open: "أقصى فتح max_open", relapse_within: "مدة الانتكاس relapse_within", max_probes: "الاستطلاعات معًا max_probes", probe_successes: "نجاحات تُغلقه probe_successes",
    probe_failures: "إخفاقات تفتحه ثانيةً probe_failures", probe_lease: "مهلة الاستطلاع probe_lease", ramp: "التدرّج ramp", jitter_permille: "التشتيت jitter_permille", latch: "القفل latch",
    slow_after: "بطيء بعد slow_after (0: معطّل)", hung_after: "معلّق بعد hung_after (0: معطّل)",
    ms: "ملي ث", s: "ث", percent: "%", permille: "‰", count: "", switch: "", perSecond: "/ث",
    figLost: "نداءات جيدة ضاعت", figSaved: "نداءات محكوم عليها بالفشل مُنعت", figBad: "نداءات محكوم عليها بالفشل مرّت", figToTrip: "الزمن حتى الفتح",
    figToClose: "الزمن حتى الإغلاق بعد العطل", figTrips: "مرات الفتح", figFalse: "منها والخدمة سليمة",
    figReopened: "فتح ثانيةً قبل أن يُغلق", figNotClosed: "المدة التي لم يكن فيها مغلقًا", figWaited: "انتظار المنادين لما فشل",
    figUnderWay: "أكثر النداءات الجارية معًا", figCalls: "النداءات", never: "–",
    tripAt: "عند", tripWhy: "ما رآه القاطع", tripClosed: "أُغلق بعد", tripReopened: "فتح ثانيةً", tripSaved: "مُنع", tripLost: "ضاع",
    evidence: "فشل {bad} من {calls} نداء خلال {over}", evidenceSlow: "أبطأ {bad} من {calls} نداء خلال {over}",
    whileWell: "والخدمة سليمة", noTrips: "لم يفتح.", moreTrips: "و{count} غيرها.", notYet: "لم يُغلق بعد",
    article: "عطل المقالة", count_at_high_rate: "عددٌ عند ألف نداء في الثانية", rate_of_few: "نسبة من نداءات قليلة جدًا",
    blind_to_brownout: "خمسون بالمئة لا ترى العطل الجزئي", open_too_long: "مفتوح أطول من اللازم", open_shorter_than_timeout: "مدة فتح أقصر من المهلة",
    one_probe: "استطلاع واحد يُغلقه", bursts: "دفعات إخفاق في يوم جيد", no_backoff: "بلا تراجع أمام خدمة متقلّبة", latched: "قفلٌ بعد ثانيتين",
    slow_recovery: "تعافٍ بطيء", a_hundred_thousand: "مئة ألف نداء في الثانية",
    copyToml: "نسخ", copiedToml: "نُسخت الإعدادات.", inEnglish: "لم يُقبل؛ ونصّ السبب بالإنجليزية: ", atPlace: "السطر {line}، العمود {column}: ",
    outage: "نوع العطل", fails: "النداءات الفاشلة", v: "إصدار الرابط", kind: "نوع النافذة kind",
  },
};

const Words = (() => {
  let language = new URLSearchParams(location.search).get("lang") === "ar" ? "ar" : "en";

  /** The text under a key, with what stands in braces filled in. */
  function word(key, parts = {}) {
    // A link may name anything, also what every object has: `constructor`.
    const text = Object.hasOwn(WORDS[language], key) ? WORDS[language][key] : key;
    return text.replace(/\{(\w+)\}/g, (_, name) => parts[name]);
  }

  function number(value, digits = 0) {
    return value.toLocaleString(language === "ar" ? "ar-u-nu-latn" : "en", { maximumFractionDigits: digits });
  }

  function duration(us) {
    const ms = us / 1000;
    if (ms < 1000) return `${number(ms, ms < 10 ? 1 : 0)} ${word("ms")}`;
    const seconds = ms / 1000;
    return `${number(seconds, seconds < 100 ? 2 : 0)} ${word("s")}`;
  }

  function apply() {
    document.documentElement.lang = language;
    document.documentElement.dir = language === "ar" ? "rtl" : "ltr";
    document.title = `nanobreaker: ${word("title")}`;
    for (const element of document.querySelectorAll("[data-word]")) {
      element.textContent = word(element.dataset.word, element.dataset);
    }
  }

  /** Opens that address in the other language. */
  function turn(href) {
    language = language === "ar" ? "en" : "ar";
    const address = new URL(href);
    if (language === "ar") address.searchParams.set("lang", "ar"); else address.searchParams.delete("lang");
    location.href = address.href;
  }

  return { word, number, duration, apply, turn, isArabic: () => language === "ar" };
})();
