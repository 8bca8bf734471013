// The subtags of the registry that golang.org/x/text v0.27.0 has, which ZITADEL parses language tags with.
// A later registry knows more: its tags would be lost on the way to a ZITADEL, so this one is kept as it is.

/** Languages of two letters. */
export const twoLetterLanguages = `
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo
es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik in io is it iu iw ja ji
jv jw ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mo mr ms mt my na nb
nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr
ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
`;

/** A bitmap of the languages of three letters that have no code of two: bit n stands for the n-th of `aaa` to `zzz`. */
export const threeLetterLanguages = `
//39/u//v9v7//769x88V2+Xc/j///9wvwP//88FhXLp//3/////d//////////j6f///028Cnr+/////v/3/////98r9PHwXeefFAcg3+2fP8
kh+L/+////////f/////9//f////d/////////57//////7/////+//////9////P/+3/////+///7///3///9////f//////+///f///f+///
/v//////93+//dWtf0D/nMFDLAglQQBQRACA+//yn7RCRdabNIj3e+cXVlV9Dhw3f/Pvn/9dOGUIABC8/7////9/Nz7Hx9//AYEAsAWAACAAAA
NAAECSIdD/ff/e/l4EAAJkjRnB33siAAAA323eJuXZ8/7//c+fFEEMhgDRAPDHZ1/WmV637e8DAAIAAADAd9pXkm0BLtZ79P//fwAAAAEMVgMA
ALAUJ1EWCgABAAAQEUkAAGAQAAAAEAAARAQAEIAFGAAABQCAKAQAAFDVLRBkNSRT9dW/4s0DAIAAQAAAAAAABBc5Ad1XmSGYpwgAAUCCAAAABA
AAAAIBQABEAACw/qs5AAIAAAAEAAAAAAAgAEAEAAAAAgAAABCDqAUAAAAABCAEpggEAAiBUAAACDGGQAAAAABAAAf1AxAIBAAAAOA7sxMAgAAR
AAAAAAAAAAAAAAAA///////fz4OiwP/fJ+9f5wMQILLFpkUlmwPf+d8D1EiQAQ6B45NU2zjzf/9t+f//fwQIAAEhEnxf/Q+FT0RAAAT//f/W6B
v0N6MNAAAge3kCB4QA8P9//gAYBIEAAACAEJQcAQAAAAAAEEAABAi0/qUMQAAAkSQEbABg8P/7f/YYBZ/fbgMAEQAAAEAFtbaCKAQABFHi//0/
BQkIBUAAAAAAEAAADAAAAAChAmznSBSJIMBHgAcAAADMUEAkhUeEQCAQACACUIgRANns7lA3HRFpDlnrMwgAIAVAEAAAAFBElknWXaeBR5f7AB
AACACAAEBFAAECAAFAgABGCPjr9znEnRYAAAwEASAg3aIBAAAAEkQAAAQQ8J2VEwSAAAHQFkAAEPCQYkzSAgFKAEYEAAgCACDAAIAGAAgAAAAA
8NjvFQIIAAABAAAAABABABAAAAD/1+P9//////9////+////////////3//7///b/f////7//////////////f/f/9z///////////77//////
////7//f/////////v/////////////3v93d//vJgFLP8H8P//fwAIAMN9HwbmcvD/fH9EIjCfex79/1fy/z//8h6V9///R4ABAgAgQFWfit/5
bhGHUdDz/3dAAwXRWFwAQAAQBAIAIAqAf/f9//7////////v////f/////////////f//99///9/////7/+9///7////33/9//f///f////7/+
///////3/f/7/v9////////////v//f////////P/9f///n77//v9/938CggT/////1+////f/4p7n//f/Vv3N///////v//3/fQ+nUQbEl9Bd
r6b//f9jXVv///8/IBQAV1HCZfVN4v//30KFxQUAIgB0aRAIBUEAAQYAAAAAAFFgBQQBAAAGESAAGAGS8f1nawaVBlft+02de4MEYkAAFUIAAA
BUg/lfEI7JRt/3EzEAIAAAAJAAAAAAAAoQAAFAAPDf/b99vs//v0IUhGGw/316BAIASS0UJ//t8b/vPwAAAsfgHvy7//379/33///89e1H9H8Q
AQHEf//33flfBYbv9Xe9PQAAAENxQgBAAAABQxkkCAD///////////////////////////////////////////////////////////////////
///////////////////++951fuE10JwUAh+hcBgAAAAADw/v+/ACMAIAAACAAAMLXjEAAAABEkFgABAjCDowFQAAGDEUgAAADw3///EqoQf9hS
AIAgAAAAAEAQAgI9QBBCEGFfnTEAAAABXAIgAAABAEIBIAAAv9//////P9/ez73/r///f0tAEPH97/33///73/9v8Xvxf/9///7377//2//f//
1+v1f/b4F2n9z3/f////v+/19XX+9fUBhi/v+fFZ8VD33GfaGS9fd+///////93f///fZf/z9AmAL/4//z9v7//99/0D4Ve7z/vv//9///93//
//7f99f97y+Av8X/////n//////9v99/Rh93//jbXc99Frnqe6AeIAAwAgQkSAQAAEDUBgQAAAQABAAwCQZQAAgAAAAkAAQAENxY100PVE/xFm
TVSgpAAgBAAAgAAADc/+sfWEhBJKAEADASQCIAEAAAAAAAAAEAAACAEBC/b5MAAQAAAAAAAADAgC0AAAAAAAAKAAAAwIbCAgABAAH/GAIAEvD/
eT8AJQAAAAoAAAAAAABAABADAAkgAAABAACDAAAAAAEAAAAAAAAAAAAAAAD////Pfr4REAAAkgFGzfleAAEAMBQEVRABBPY/egUEALCAIFV1l3
3fccx41UP1V2cUAQAAAAAALPfbH1Rgg2gFEIs4ugEAADAAJEQAABADMQIBAADw9f/X17xw1nh6FVAFpITpQQAAAGs5UnRA6DCQapIAAAL/7/9/
hVP07///8t3HTPVC/P//HwCAwFbMFp/7N33v/72krwFEGAFdTkoIUCgw4IAQICQA////b/4BBogqQBYBARUrPgEAABCQaUUCAgHhv78DAAAQ3K
fRVJ5E3/2PZrNVINTD2DA9gAAAAEz0EcWEb1AAIlB/v9sHACAQhLJFEAZEAAASAhEA8P/9fwUCFokAAAAIABAMAwAAAACDMAIohAAzwCMkAAAA
y+Q6RshU8f//fxYBAYRQB/z//w8BAEAQOAEBHBJA4XYWCAMQAAAAAQAAAAAAIiQKQIAAAA==
`;

/** Other codes of languages, with the subtag that each stands for. */
export const languageCodes = `
aar:aa abk:ab afr:af aka:ak amh:am ara:ar arg:an asm:as ava:av ave:ae aym:ay aze:az bak:ba bam:bm bel:be ben:bn
bih:bh bis:bi bod:bo bos:bs bre:br bul:bg cat:ca ces:cs cha:ch che:ce chu:cu chv:cv cor:kw cos:co cre:cr cym:cy
dan:da deu:de div:dv dzo:dz ell:el eng:en epo:eo est:et eus:eu ewe:ee fao:fo fas:fa fij:fj fin:fi fra:fr fry:fy
ful:ff gla:gd gle:ga glg:gl glv:gv grn:gn guj:gu hat:ht hau:ha hbs:sh heb:iw her:hz hin:hi hmo:ho hrv:hr hun:hu
hye:hy ibo:ig ido:io iii:ii iku:iu ile:ie ina:ia ind:id ipk:ik isl:is ita:it jav:jv jpn:ja kal:kl kan:kn kas:ks
kat:ka kau:kr kaz:kk khm:km kik:ki kin:rw kir:ky kom:kv kon:kg kor:ko kua:kj kur:ku lao:lo lat:la lav:lv lim:li
lin:ln lit:lt ltz:lb lub:lu lug:lg mah:mh mal:ml mar:mr mkd:mk mlg:mg mlt:mt mol:mo mon:mn mri:mi msa:ms mya:my
nau:na nav:nv nbl:nr nde:nd ndo:ng nep:ne nld:nl nno:nn nob:nb nor:no nya:ny oci:oc oji:oj ori:or orm:om oss:os
pan:pa pli:pi pol:pl por:pt pus:ps que:qu roh:rm ron:ro run:rn rus:ru sag:sg san:sa sin:si slk:sk slv:sl sme:se
smo:sm sna:sn snd:sd som:so sot:st spa:es sqi:sq srd:sc srp:sr ssw:ss sun:su swa:sw swe:sv tah:ty tam:ta tat:tt
tel:te tgk:tg tgl:tl tha:th tir:ti ton:to tsn:tn tso:ts tuk:tk tur:tr twi:tw uig:ug ukr:uk urd:ur uzb:uz ven:ve
vie:vi vol:vo wln:wa wol:wo xho:xh yid:ji yor:yo zha:za zho:zh zul:zu
`;

/** Deprecated and legacy languages, with their replacements. */
export const replacedLanguages = `
aam:aas adp:dz ajp:apc ajt:aeb alb:sq arm:hy asd:snz aue:ktz ayx:nun baq:eu bgm:bcg bic:bir bjd:drl blg:iba bur:my
ccq:rki chi:zh cjr:mom cka:cmr cmk:xch coy:pij cqu:quh cze:cs dit:dif drh:khk drr:kzk drw:prs dut:nl fre:fr gav:dev
geo:ka ger:de gfx:vaj ggn:gvr gli:kzk gre:el gti:nyc guv:duz hrr:jal ibi:opa ice:is ilw:gal in:id iw:he jeg:oyb
ji:yi jw:jv kgc:tdf kgh:kml kgm:plu koj:kwv krm:bmf ktr:dtp kvs:gdj kwq:yam kxe:tvd kxl:kru kzj:dtp kzt:dtp lak:ksp
lii:raq llo:ngt lmm:rmx mac:mk mao:mi may:ms meg:cir mo:ro-MD mst:mry mwj:vaj myd:aog myt:mry nad:xny ncp:kdz
nns:nbr nnx:ngv nom:cbr nts:pij nxu:bpp oun:vaj pat:kxr pcr:adx per:fa pmc:huw pmk:crr pmu:phr ppa:bfy ppr:lcq
prp:gu pry:prt puz:pub rum:ro sca:hle sh:sr-Latn skk:oyb slo:sk smd:kmb snb:iba szd:umi tdu:dtp thc:tpo thw:ola
thx:oyb tib:bo tie:ras tkk:twm tl:fil tlw:weo tmk:tdg tmp:tyj tne:kak tnf:prs tpw:tpn tsf:taj uok:ema wel:cy xba:cax
xia:acn xkh:waw xrq:dmw xss:zko ybd:rki yma:lrr ymt:mtm yos:zom yuu:yug zir:scv zkb:kjh
`;

/** Scripts. */
export const scripts = `
Adlm Afak Aghb Ahom Arab Aran Armi Armn Avst Bali Bamu Bass Batk Beng Bhks Blis Bopo Brah Brai Bugi Buhd Cakm Cans
Cari Cham Cher Chrs Cirt Copt Cpmn Cprt Cyrl Cyrs Deva Diak Dogr Dsrt Dupl Egyd Egyh Egyp Elba Elym Ethi Geok Geor
Glag Gong Gonm Goth Gran Grek Gujr Guru Hanb Hang Hani Hano Hans Hant Hatr Hebr Hira Hluw Hmng Hmnp Hrkt Hung Inds
Ital Jamo Java Jpan Jurc Kali Kana Kawi Khar Khmr Khoj Kitl Kits Knda Kore Kpel Kthi Lana Laoo Latf Latg Latn Leke
Lepc Limb Lina Linb Lisu Loma Lyci Lydi Mahj Maka Mand Mani Marc Maya Medf Mend Merc Mero Mlym Modi Mong Moon Mroo
Mtei Mult Mymr Nagm Nand Narb Nbat Newa Nkdb Nkgb Nkoo Nshu Ogam Olck Orkh Orya Osge Osma Ougr Palm Pauc Pcun Pelm
Perm Phag Phli Phlp Phlv Phnx Piqd Plrd Prti Psin Qaaa Qaab Qaac Qaad Qaae Qaaf Qaag Qaah Qaai Qaaj Qaak Qaal Qaam
Qaan Qaao Qaap Qaaq Qaar Qaas Qaat Qaau Qaav Qaaw Qaax Qaay Qaaz Qaba Qabb Qabc Qabd Qabe Qabf Qabg Qabh Qabi Qabj
Qabk Qabl Qabm Qabn Qabo Qabp Qabq Qabr Qabs Qabt Qabu Qabv Qabw Qabx Ranj Rjng Rohg Roro Runr Samr Sara Sarb Saur
Sgnw Shaw Shrd Shui Sidd Sind Sinh Sogd Sogo Sora Soyo Sund Sunu Sylo Syrc Syre Syrj Syrn Tagb Takr Tale Talu Taml
Tang Tavt Telu Teng Tfng Tglg Thaa Thai Tibt Tirh Tnsa Toto Ugar Vaii Visp Vith Wara Wcho Wole Xpeo Xsux Yezi Yiii
Zanb Zinh Zsye Zsym Zxxx Zyyy Zzzz
`;

/** Regions. */
export const regions = `
142 143 145 150 151 154 155 202 419 001 002 003 005 009 011 013 014 015 017 018 019 021 029 030 034 035 039 053 054
057 061 AA AC AD AE AF AG AI AL AM AN AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT
BU BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CP CQ CR CS CT CU CV CW CX CY CZ DD DE DG DJ DK DM DO DY DZ EA EC
EE EG EH ER ES ET EU EZ FI FJ FK FM FO FQ FR FX GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR
HT HU HV IC ID IE IL IM IN IO IQ IR IS IT JE JM JO JP JT KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU
LV LY MA MC MD ME MF MG MH MI MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NH NI NL NO NP NQ NR NT
NU NZ OM PA PC PE PF PG PH PK PL PM PN PR PS PT PU PW PY PZ QA QM QN QO QP QQ QR QS QT QU QV QW QX QY QZ RE RH RO RS
RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SU SV SX SY SZ TA TC TD TF TG TH TJ TK TL TM TN TO TP TR TT
TV TW TZ UA UG UK UM UN US UY UZ VA VC VD VE VG VI VN VU WF WK WS XA XB XC XD XE XF XG XH XI XJ XK XL XM XN XO XP XQ
XR XS XT XU XV XW XX XY XZ YD YE YT YU ZA ZM ZR ZW ZZ
`;

/** Other codes of regions, with the subtag that each stands for. */
export const regionCodes = `
100:BG 104:MM 108:BI 112:BY 116:KH 120:CM 124:CA 132:CV 136:KY 140:CF 144:LK 148:TD 152:CL 156:CN 158:TW 162:CX
166:CC 170:CO 174:KM 175:YT 178:CG 180:CD 184:CK 188:CR 191:HR 192:CU 196:CY 203:CZ 204:BJ 208:DK 212:DM 214:DO
218:EC 222:SV 226:GQ 230:ET 231:ET 232:ER 233:EE 234:FO 238:FK 239:GS 242:FJ 246:FI 248:AX 249:FX 250:FR 254:GF
258:PF 260:TF 262:DJ 266:GA 268:GE 270:GM 275:PS 276:DE 278:DD 280:DE 288:GH 292:GI 296:KI 300:GR 304:GL 308:GD
312:GP 316:GU 320:GT 324:GN 328:GY 332:HT 334:HM 336:VA 340:HN 344:HK 348:HU 352:IS 356:IN 360:ID 364:IR 368:IQ
372:IE 376:IL 380:IT 384:CI 388:JM 392:JP 398:KZ 400:JO 404:KE 408:KP 410:KR 414:KW 417:KG 418:LA 422:LB 426:LS
428:LV 430:LR 434:LY 438:LI 440:LT 442:LU 446:MO 450:MG 454:MW 458:MY 462:MV 466:ML 470:MT 474:MQ 478:MR 480:MU
484:MX 492:MC 496:MN 498:MD 499:ME 500:MS 504:MA 508:MZ 512:OM 516:NA 520:NR 524:NP 528:NL 530:AN 531:CW 533:AW
534:SX 535:BQ 536:NT 540:NC 548:VU 554:NZ 558:NI 562:NE 566:NG 570:NU 574:NF 578:NO 580:MP 581:UM 583:FM 584:MH
585:PW 586:PK 591:PA 598:PG 600:PY 604:PE 608:PH 612:PN 616:PL 620:PT 624:GW 626:TL 630:PR 634:QA 638:RE 642:RO
643:RU 646:RW 652:BL 654:SH 659:KN 660:AI 662:LC 663:MF 666:PM 670:VC 674:SM 678:ST 682:SA 686:SN 688:RS 690:SC
694:SL 702:SG 703:SK 704:VN 705:SI 706:SO 710:ZA 716:ZW 720:YD 724:ES 728:SS 729:SD 732:EH 736:SD 740:SR 744:SJ
748:SZ 752:SE 756:CH 760:SY 762:TJ 764:TH 768:TG 772:TK 776:TO 780:TT 784:AE 788:TN 792:TR 795:TM 796:TC 798:TV
800:UG 804:UA 807:MK 810:SU 818:EG 826:GB 831:GG 832:JE 833:IM 834:TZ 840:US 850:VI 854:BF 858:UY 860:UZ 862:VE
876:WF 882:WS 886:YE 887:YE 891:CS 894:ZM 958:AA 959:QM 960:QN 961:QO 962:QP 963:QQ 964:QR 965:QS 966:QT 967:EU
968:QV 969:QW 970:QX 971:QY 972:QZ 973:XA 974:XB 975:XC 976:XD 977:XE 978:XF 979:XG 980:XH 981:XI 982:XJ 983:XK
984:XL 985:XM 986:XN 987:XO 988:XP 989:XQ 990:XR 991:XS 992:XT 993:XU 994:XV 995:XW 996:XX 997:XY 998:XZ 999:ZZ
004:AF 008:AL 010:AQ 012:DZ 016:AS 020:AD 024:AO 028:AG 031:AZ 032:AR 036:AU 040:AT 044:BS 048:BH 050:BD 051:AM
052:BB 056:BE 060:BM 064:BT 068:BO 070:BA 072:BW 074:BV 076:BR 084:BZ 086:IO 090:SB 092:VG 096:BN aaa:AA abw:AW
afg:AF ago:AO aia:AI ala:AX alb:AL and:AD ant:AN are:AE arg:AR arm:AM asc:AC asm:AS ata:AQ atf:TF atg:AG atn:NQ
aus:AU aut:AT aze:AZ bdi:BI bel:BE ben:BJ bes:BQ bfa:BF bgd:BD bgr:BG bhr:BH bhs:BS bih:BA blm:BL blr:BY blz:BZ
bmu:BM bol:BO bra:BR brb:BB brn:BN btn:BT bur:BU bvt:BV bwa:BW caf:CF can:CA cck:CC che:CH chl:CL chn:CN civ:CI
cmr:CM cod:CD cog:CG cok:CK col:CO com:KM cpt:CP cpv:CV cri:CR cte:CT cub:CU cuw:CW cxr:CX cym:KY cyp:CY cze:CZ
ddr:DD deu:DE dga:DG dhy:DY dji:DJ dma:DM dnk:DK dom:DO dza:DZ ecu:EC egy:EG eri:ER esh:EH esp:ES est:EE eth:ET
fin:FI fji:FJ flk:FK fra:FR fro:FO fsm:FM fxx:FX gab:GA gbr:GB geo:GE ggy:GG gha:GH gib:GI gin:GN glp:GP gmb:GM
gnb:GW gnq:GQ grc:GR grd:GD grl:GL gtm:GT guf:GF gum:GU guy:GY hkg:HK hmd:HM hnd:HN hrv:HR hti:HT hun:HU hvo:HV
idn:ID imn:IM ind:IN iot:IO irl:IE irn:IR irq:IQ isl:IS isr:IL ita:IT jam:JM jey:JE jor:JO jpn:JP jtn:JT kaz:KZ
ken:KE kgz:KG khm:KH kir:KI kna:KN kor:KR kwt:KW lao:LA lbn:LB lbr:LR lby:LY lca:LC lie:LI lka:LK lso:LS ltu:LT
lux:LU lva:LV mac:MO maf:MF mar:MA mco:MC mda:MD mdg:MG mdv:MV mex:MX mhl:MH mid:MI mkd:MK mli:ML mlt:MT mmr:MM
mne:ME mng:MN mnp:MP moz:MZ mrt:MR msr:MS mtq:MQ mus:MU mwi:MW mys:MY myt:YT nam:NA ncl:NC ner:NE nfk:NF nga:NG
nhb:NH nic:NI niu:NU nld:NL nor:NO npl:NP nru:NR ntz:NT nzl:NZ omn:OM pak:PK pan:PA pci:PC pcn:PN pcz:PZ per:PE
phl:PH plw:PW png:PG pol:PL pri:PR prk:KP prt:PT pry:PY pse:PS pus:PU pyf:PF qat:QA qmm:QM qnn:QN qoo:QO qpp:QP
qqq:QQ qrr:QR qss:QS qtt:QT quu:EU qvv:QV qww:QW qxx:QX qyy:QY qzz:QZ reu:RE rho:RH rou:RO rus:RU rwa:RW sau:SA
scg:CS sdn:SD sen:SN sgp:SG sgs:GS shn:SH sjm:SJ slb:SB sle:SL slv:SV smr:SM som:SO spm:PM srb:RS ssd:SS stp:ST
sun:SU sur:SR svk:SK svn:SI swe:SE swz:SZ sxm:SX syc:SC syr:SY taa:TA tca:TC tcd:TD tgo:TG tha:TH tjk:TJ tkl:TK
tkm:TM tls:TL tmp:TP ton:TO tto:TT tun:TN tur:TR tuv:TV twn:TW tza:TZ uga:UG ukr:UA umi:UM ury:UY usa:US uzb:UZ
vat:VA vct:VC vdr:VD ven:VE vgb:VG vir:VI vnm:VN vut:VU wak:WK wlf:WF wsm:WS xaa:XA xbb:XB xcc:XC xdd:XD xee:XE
xff:XF xgg:XG xhh:XH xii:XI xjj:XJ xkk:XK xll:XL xmm:XM xnn:XN xoo:XO xpp:XP xqq:XQ xrr:XR xss:XS xtt:XT xuu:XU
xvv:XV xww:XW xxx:XX xyy:XY xzz:XZ yem:YE ymd:YD yug:YU zaf:ZA zar:ZR zmb:ZM zwe:ZW zzz:ZZ
`;

/** Deprecated regions, with their replacements. */
export const replacedRegions = `
FX:FR DD:DE YD:YE NQ:AQ BU:MM CT:KI DY:BJ HV:BF JT:UM MI:UM NH:VU PZ:PA PU:UM QU:EU RH:ZW TP:TL UK:GB VD:VN WK:UM
ZR:CD
`;

/** Variants, in the order in which a tag has them. */
export const variants = `
1606nict 1694acad 1901 1959acad 1996 abl1943 akuapem aluku ao1990 aranes arevela arevmda arkaika asante auvern
baku1926 balanka barla basiceng bauddha bciav bcizbl biscayan bohoric boont bornholm cisaup colb1945 cornu creiss
dajnko ekavsk emodeng gallo gascon grclass grital grmistr hepburn hognorsk hsistemo ijekavsk itihasa ivanchov jauer
jyutping kkcor kociewie kscor laukika lemosin lengadoc ltg1929 ltg2007 luna1918 metelko monoton ndyuka nedis
newfound nicard nulik oxendict pahawh2 pahawh3 pahawh4 pamaka peano petr1708 pinyin polyton provenc puter rigik
rozaj rumgr scotland scouse sotav spanglis surmiran sursilv sutsilv synnejyl tarask tongyong tunumiit uccor ucrcor
ulster unifon vaidika valencia vallader vecdruka vivaraup wadegile xsistemo biske lipaw njiva osojs solba 1994
heploc alalc97 fonipa fonkirsh fonnapa fonupa fonxsamp simple
`;

/** Tags that the registry keeps as a whole, with what stands for each. */
export const grandfatheredTags = `
art-lojban:jbo cel-gaulish:xtg-x-cel-gaulish en-gb-oed:en-GB-oxendict en-us-posix:en-US-u-va-posix i-ami:ami
i-bnn:bnn i-default:en-x-i-default i-enochian:und-x-i-enochian i-hak:hak i-klingon:tlh i-lux:lb
i-mingo:see-x-i-mingo i-navajo:nv i-pwn:pwn i-tao:tao i-tay:tay i-tsu:tsu no-bok:nb no-nyn:nn root:und sgn-be-fr:sfb
sgn-be-nl:vgt sgn-ch-de:sgg zh-guoyu:cmn zh-hakka:hak zh-min:nan-x-zh-min zh-min-nan:nan zh-xiang:hsn
`;
